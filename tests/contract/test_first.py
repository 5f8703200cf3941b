import httpx
from tests.contract.stand_in import StandIn
def test_x(api: httpx.Client, memory: StandIn) -> None:
    h={"Authorization":"Bearer writer"}
    r=api.post("/v1/lessons",json={"text": "The deploy", "situation": "deploying", "source": {"how": "observed"}},headers=h)
    print(r.status_code,r.headers,r.text)
    r=api.post("/v1/recall",json={"query":"x"},headers=h); print(r.status_code,r.text)
    r=api.post("/v1/recall",json={"query":" ","zz":1, "as_of":"x", "tags":{"a":3}},headers=h); print(r.status_code,r.headers,r.text)
    for m,p in [("GET","/health"),("GET","/nope"),("DELETE","/v1/lessons"),("GET","/docs"),("GET","/openapi.json"),("GET","/v1/lessons/les_x"),("GET","/v1/lessons?limit=3&as_of=5"),("GET","/v1/lessons?limit=0&x=5"),("HEAD","/health"),("OPTIONS","/v1/recall")]:
        r=api.request(m,p,headers=h); print(m,p,r.status_code,r.headers.get("allow"),r.text[:300])
    print(memory.calls[:1])
