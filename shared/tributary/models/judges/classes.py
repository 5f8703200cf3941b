"""Closed classes of which one thing has one at a time: a queue has one order, a volume one file system. Plain data."""

from __future__ import annotations

from tributary.models.judges.words import concept_of

# One line a class.
_CLASSES = """
serializable read-committed repeatable-read snapshot
debug info warn warning error trace
gzip zstd lz4 snappy brotli
g1gc zgc shenandoah parallelgc
rolling recreate blue-green canary
fifo lifo
ext4 xfs btrfs zfs
gp2 gp3 io1 io2 st1
json yaml toml xml avro protobuf csv parquet
round-robin least-connections ip-hash
active-active active-passive
always never ifnotpresent onfailure
red green blue yellow orange
rsa ecdsa ed25519
aes-128 aes-256
lru lfu random
sha1 sha256 sha512 md5
bcrypt argon2 scrypt
arm64 amd64 x86_64
debian ubuntu alpine rhel
memcached redis
mysql postgresql mariadb oracle
kafka rabbitmq sqs nats
nginx haproxy envoy traefik
helm kustomize
jenkins circleci
prometheus datadog
"""

_CLASS_OF = {concept_of(word).key: number for number, line in enumerate(_CLASSES.strip().splitlines()) for word in line.split()}


def of_one_class(one: str, other: str) -> bool:
    """Tells whether two different keys are of one closed class."""
    number = _CLASS_OF.get(one)
    return number is not None and one != other and number == _CLASS_OF.get(other)
