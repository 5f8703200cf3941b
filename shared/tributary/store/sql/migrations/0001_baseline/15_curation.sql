-- What curators review, and what keeps one agent from drowning the others.

-- A pair or text that a golden set might learn from. It holds text, so erasing a lesson deletes it.
CREATE TABLE tributary.review (
    tribe_id     uuid NOT NULL,
    review_id    uuid NOT NULL,
    signal       text NOT NULL CHECK (signal IN ('overruled', 'reported', 'injection', 'released', 'both_stand')),
    suite        text NOT NULL CHECK (suite IN ('judge', 'screen')),
    fingerprint  bytea NOT NULL CHECK (octet_length(fingerprint) = 32), -- over the inputs: the same case is queued once
    inputs       jsonb NOT NULL CHECK (jsonb_typeof(inputs) = 'object'),
    found        text NOT NULL, -- what the model had said
    expected     text NOT NULL, -- what it should have said, by the signal
    note         text CHECK (octet_length(note) BETWEEN 1 AND 8192),
    lesson_ids   uuid[] NOT NULL,
    decision_id  uuid NOT NULL,
    agent_id     uuid NOT NULL, -- who gave the signal
    state        text NOT NULL CHECK (state IN ('open', 'accepted', 'rejected')),
    tick         bigint NOT NULL,
    at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    closed_at    timestamptz,
    closed_by    uuid,
    golden       text CHECK (octet_length(golden) BETWEEN 1 AND 200), -- the row of a golden set that it became
    reason       text CHECK (octet_length(reason) BETWEEN 1 AND 8192), -- why it teaches nothing
    PRIMARY KEY (tribe_id, review_id),
    UNIQUE (tribe_id, fingerprint),
    CONSTRAINT review_closing CHECK ((state = 'open') = (closed_at IS NULL) AND (closed_at IS NULL) = (closed_by IS NULL)),
    CONSTRAINT review_golden CHECK ((state = 'accepted') = (golden IS NOT NULL) AND (state = 'rejected' OR reason IS NULL))
);
CREATE INDEX review_newest ON tributary.review (tribe_id, tick DESC, review_id);

-- How far ahead of its pace an agent has written: the one number of the generic cell rate algorithm (ITU-T I.371).
CREATE TABLE tributary.pace (
    tribe_id     uuid NOT NULL,
    agent_id     uuid NOT NULL,
    spent_until  timestamptz NOT NULL,
    PRIMARY KEY (tribe_id, agent_id)
) WITH (fillfactor = 25);

-- Who settles a tribe's pending lessons, and until when nobody else need begin with them.
CREATE TABLE tributary.settling_turn (
    tribe_id  uuid PRIMARY KEY,
    holder    uuid NOT NULL,
    until     timestamptz NOT NULL
);

-- How the gardener's last run in a tribe went. Codes and counts, no text.
CREATE TABLE tributary.gardening (
    tribe_id  uuid PRIMARY KEY,
    began_at  timestamptz NOT NULL,
    ended_at  timestamptz NOT NULL CHECK (ended_at >= began_at),
    failed    text CHECK (octet_length(failed) BETWEEN 1 AND 100), -- the code of what ended it before its last rule
    rules     jsonb NOT NULL -- {rule: {done, left, refused: {code: n}, failed: code}}, of the rules that it reached
              CHECK (jsonb_typeof(rules) = 'object' AND octet_length(rules::text) <= 8192)
) WITH (fillfactor = 25); -- every run rewrites the row: room for heap-only updates in its page

-- How much a tribe wrote on a day (UTC).
CREATE TABLE tributary.tribe_day (
    tribe_id  uuid NOT NULL,
    day       date NOT NULL,
    writes    bigint NOT NULL CHECK (writes >= 0),
    PRIMARY KEY (tribe_id, day)
) WITH (fillfactor = 25);
