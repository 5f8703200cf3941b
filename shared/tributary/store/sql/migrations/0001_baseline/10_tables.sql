-- The core tables.
--
--   tribe ─┬─ agent ── token, agent_principal  who may do what
--          ├─ tribe_count, usage               counters
--          ├─ lesson ─┬─ lesson_vector, _term, _facet     how it is found
--          │          ├─ lesson_event, confirmation      what happened to it, at which tick
--          │          ├─ rival                           which two may never both be believed
--          │          └─ dispute ── dispute_about        what is open against it
--          ├─ tribe_event                      what a tick did besides
--          ├─ decision, idempotency, audit     what was asked and answered
--          ├─ review                           what a golden set might learn from (15_curation.sql)
--          ├─ session                          who is signed in to the dashboard (74_sessions.sql)
--          ├─ action                           side effects that are to happen once, and their states (73_actions.sql)
--          ├─ model_call, model_day            what calls of models cost (77_costs.sql)
--          ├─ activity                         what happened in each hour that no event tells (78_activity.sql)
--          ├─ settling_turn                    which settler is at its pending lessons (15_curation.sql)
--          ├─ gardening                        how the gardener's last run in it went (15_curation.sql)
--          ├─ pace, tribe_day                  how fast an agent and how much a tribe writes (15_curation.sql)
--          ├─ evidence_file                    which files there are that lessons refer to (47_evidence.sql)
--          └─ tribe_space ── space             where its vectors live (spaces are global)
--                              └─ space_reference   what its first embedder made of a few sentences (45_spaces.sql)
--   signing_key, schema_requirement            global
--   evaluation                                 global: what evals found (78_evaluations.sql)
--   failed_sign_in                             global: where the dashboard was tried in vain (74_sessions.sql)
--
-- Lock order: the gate (the tribe's row) first, then lesson, lesson_vector, counters, then one action, then idempotency. Nothing else is
-- locked before the gate. What changes an action alone needs no gate, and locks one action and one idempotency key.
-- Tables that are written outside of the gate have no foreign key to tribe: it would put multixacts on its hot row.
--
--   pending | disputed ──► active ──► superseded | retired | evicted
--   quarantined ──► pending | disputed | active (released: learned as its author) | retired
--   pending | disputed ──► retired        any ──► erased
CREATE TABLE tributary.tribe (
    tribe_id        uuid PRIMARY KEY,
    name            text NOT NULL UNIQUE,
    clock           bigint NOT NULL DEFAULT 0 CHECK (clock >= 0),
    clock_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    policy          jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(policy) = 'object'),
    policy_version  integer NOT NULL DEFAULT 1,
    secret          bytea NOT NULL CHECK (octet_length(secret) = 32),
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    lost            int8multirange NOT NULL DEFAULT '{}', -- ticks that were lost when the database was restored: no commit gets them again
    CONSTRAINT tribe_lost CHECK (lost <@ int8multirange(int8range(1, clock + 1)))
) WITH (fillfactor = 25); -- every tick rewrites the row: room for heap-only updates in its page

CREATE TABLE tributary.tribe_count (
    tribe_id  uuid NOT NULL,
    status    text NOT NULL,
    lessons   bigint NOT NULL CHECK (lessons >= 0),
    past      bigint NOT NULL DEFAULT 0 CHECK (past >= 0), -- those of them that were believed once
    PRIMARY KEY (tribe_id, status)
) WITH (fillfactor = 25);

CREATE TABLE tributary.agent (
    tribe_id    uuid NOT NULL REFERENCES tributary.tribe,
    agent_id    uuid NOT NULL,
    name        text NOT NULL,
    role        text NOT NULL CHECK (role IN ('reader', 'writer', 'curator')),
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    revoked_at  timestamptz,
    PRIMARY KEY (tribe_id, agent_id),
    UNIQUE (tribe_id, name)
);

CREATE TABLE tributary.token (
    tribe_id    uuid NOT NULL,
    token_id    uuid NOT NULL,
    agent_id    uuid NOT NULL,
    token_hash  bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32), -- SHA-256; the secret has 256 random bits
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at  timestamptz NOT NULL,
    revoked_at  timestamptz,
    last_used_at timestamptz, -- to the minute: a use within a minute of the last one is not written down
    PRIMARY KEY (tribe_id, token_id),
    FOREIGN KEY (tribe_id, agent_id) REFERENCES tributary.agent
) WITH (fillfactor = 70); -- each use may rewrite the row: room for heap-only updates in its page
CREATE INDEX token_agent ON tributary.token (tribe_id, agent_id, token_id);

-- AWS principals that act as an agent: roles without their path, and users, by ARN (core/aws_principal.py).
CREATE TABLE tributary.agent_principal (
    tribe_id      uuid NOT NULL,
    agent_id      uuid NOT NULL,
    principal     text NOT NULL UNIQUE CHECK (octet_length(principal) BETWEEN 20 AND 700), -- whom it is, whatever the tribe
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    last_used_at  timestamptz, -- to the minute, as of a token
    PRIMARY KEY (tribe_id, agent_id, principal),
    FOREIGN KEY (tribe_id, agent_id) REFERENCES tributary.agent
) WITH (fillfactor = 70);

CREATE TABLE tributary.space (
    space_id      integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name          text NOT NULL UNIQUE,
    model         text NOT NULL,
    pooling       text NOT NULL,
    windowing     text NOT NULL,
    quantisation  text NOT NULL,
    dimension     integer NOT NULL CHECK (dimension BETWEEN 1 AND 4000), -- a halfvec has to fit into a page (STORAGE PLAIN)
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE tributary.tribe_space (
    tribe_id  uuid NOT NULL REFERENCES tributary.tribe,
    space_id  integer NOT NULL REFERENCES tributary.space,
    state     text NOT NULL CHECK (state IN ('building', 'serving', 'retired', 'dropping')),
    vectors   bigint NOT NULL DEFAULT 0 CHECK (vectors >= 0), -- of believed lessons
    past      bigint NOT NULL DEFAULT 0 CHECK (past >= 0), -- of lessons that were believed once
    complete_tick  bigint, -- every lesson that needed a vector by then has one here; NULL until that was found once
    PRIMARY KEY (tribe_id, space_id)
) WITH (fillfactor = 25);
CREATE UNIQUE INDEX tribe_space_serving ON tributary.tribe_space (tribe_id) WHERE state = 'serving';
CREATE UNIQUE INDEX tribe_space_building ON tributary.tribe_space (tribe_id) WHERE state = 'building';

CREATE TABLE tributary.lesson (
    tribe_id          uuid NOT NULL,
    lesson_id         uuid NOT NULL,
    agent_id          uuid NOT NULL, -- its author
    kind              text NOT NULL CHECK (kind IN
                      ('gotcha', 'entity_fact', 'observation', 'runbook_fact', 'resolution', 'rejected_hypothesis')),
    status            text NOT NULL CHECK (status IN
                      ('active', 'pending', 'disputed', 'quarantined', 'superseded', 'retired', 'evicted', 'erased')),
    believed          boolean NOT NULL GENERATED ALWAYS AS (status = 'active') STORED,
    text              text CHECK (octet_length(text) BETWEEN 1 AND 8192),
    situation         text CHECK (octet_length(situation) BETWEEN 1 AND 2048),
    subject           text,
    subject_key       text,
    tags              jsonb NOT NULL DEFAULT '{}'
                      CHECK (jsonb_typeof(tags) = 'object' AND NOT tags @? 'strict $.* ? (@.type() <> "string")'),
    source_how        text NOT NULL CHECK (source_how IN ('observed', 'derived', 'told', 'imported')),
    source_ref        text,
    evidence          jsonb NOT NULL DEFAULT '[]'
                      CHECK (jsonb_typeof(evidence) = 'array' AND NOT evidence @? 'strict $[*] ? (@.type() <> "object")'),
    rationale         text,
    confidence        double precision NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    valid_from        timestamptz,
    valid_until       timestamptz,
    keep_until        timestamptz,
    content_hash      bytea NOT NULL CHECK (octet_length(content_hash) = 32),
    learned_tick      bigint NOT NULL,
    learned_at        timestamptz NOT NULL,
    activated_tick    bigint,
    activated_at      timestamptz,
    deactivated_tick  bigint,
    deactivated_at    timestamptz,
    superseded_by     uuid,
    text_hash         bytea CHECK (octet_length(text_hash) = 32), -- of the text alone: finds copies of erased words, and refuses them
    admitted_as       text NOT NULL DEFAULT 'writer' CHECK (admitted_as IN ('writer', 'curator')), -- the author's role when it came in
    held              boolean NOT NULL DEFAULT false, -- held back by a screen and never released: for curators and its author only
    rejected_as       text CHECK (rejected_as IN ('wrong', 'injection')), -- by a curator; the same is not silently believed again
    PRIMARY KEY (tribe_id, lesson_id),
    FOREIGN KEY (tribe_id, agent_id) REFERENCES tributary.agent,
    UNIQUE (tribe_id, lesson_id, believed),
    UNIQUE (tribe_id, lesson_id, activated_tick),
    -- One successor, which became believed at the very tick that ended this one. Since a belief interval is never empty,
    -- activation ticks rise along the chain: no cycle can be written.
    CONSTRAINT lesson_successor FOREIGN KEY (tribe_id, superseded_by, deactivated_tick)
        REFERENCES tributary.lesson (tribe_id, lesson_id, activated_tick) DEFERRABLE INITIALLY DEFERRED,
    CONSTRAINT lesson_has_text CHECK ((status = 'erased') = (text IS NULL) AND (status = 'erased') = (situation IS NULL)),
    CONSTRAINT lesson_validity CHECK (valid_from < valid_until),
    CONSTRAINT lesson_interval CHECK (
        deactivated_tick > activated_tick AND activated_tick >= learned_tick
        AND (activated_tick IS NULL) = (activated_at IS NULL)
        AND (deactivated_tick IS NULL) = (deactivated_at IS NULL)
        AND (deactivated_tick IS NULL OR activated_tick IS NOT NULL)),
    CONSTRAINT lesson_status_interval CHECK (
        CASE
            WHEN status = 'active' THEN activated_tick IS NOT NULL AND deactivated_tick IS NULL
            WHEN status IN ('pending', 'disputed', 'quarantined') THEN activated_tick IS NULL
            WHEN status = 'superseded' THEN deactivated_tick IS NOT NULL AND superseded_by IS NOT NULL
            ELSE (activated_tick IS NULL) = (deactivated_tick IS NULL)
        END),
    CONSTRAINT lesson_successor_status CHECK (superseded_by IS NULL OR status IN ('superseded', 'erased')),
    CONSTRAINT lesson_rejected_status CHECK (rejected_as IS NULL OR status IN ('superseded', 'retired', 'erased'))
);
CREATE UNIQUE INDEX lesson_believed_content ON tributary.lesson (tribe_id, content_hash) WHERE believed;
CREATE INDEX lesson_subject ON tributary.lesson (tribe_id, subject_key, lesson_id) WHERE subject_key IS NOT NULL;
-- what is not believed and yet bears on what a new lesson comes to
CREATE INDEX lesson_open ON tributary.lesson (tribe_id, lesson_id)
    WHERE status IN ('pending', 'disputed') OR rejected_as IS NOT NULL;
-- by the same words: what a curator rejected, and tombstones
CREATE INDEX lesson_refused_content ON tributary.lesson (tribe_id, content_hash) WHERE rejected_as IS NOT NULL OR status = 'erased';
CREATE INDEX lesson_erased_text ON tributary.lesson (tribe_id, text_hash) WHERE status = 'erased';
-- what has no facets: nothing may find what is held back, and of what is erased little is left to find it by
CREATE INDEX lesson_without_facets ON tributary.lesson (tribe_id) WHERE held OR status = 'erased';
CREATE INDEX lesson_held ON tributary.lesson (tribe_id, learned_tick DESC) WHERE status = 'quarantined';
-- No lesson_id in it: a generic plan, which knows an average tribe only, would look lessons up by scanning it whole.
CREATE INDEX lesson_newest ON tributary.lesson (tribe_id, learned_tick DESC);
-- By where it comes from; of its beginning only, since a long one fits in no index.
CREATE INDEX lesson_ref ON tributary.lesson (tribe_id, left(source_ref, 128) text_pattern_ops) WHERE source_ref IS NOT NULL;
CREATE INDEX lesson_ended ON tributary.lesson (tribe_id, deactivated_tick) WHERE deactivated_tick IS NOT NULL;

CREATE TABLE tributary.lesson_vector (
    tribe_id   uuid NOT NULL,
    space_id   integer NOT NULL,
    lesson_id  uuid NOT NULL,
    believed   boolean NOT NULL, -- kept equal to the lesson's by the cascade
    indexed    boolean NOT NULL DEFAULT false, -- in the tribe's HNSW index of such as it, if there is one; the gardener puts it there
    embedding  public.halfvec NOT NULL,
    PRIMARY KEY (tribe_id, space_id, lesson_id),
    FOREIGN KEY (tribe_id, lesson_id, believed) REFERENCES tributary.lesson (tribe_id, lesson_id, believed) ON UPDATE CASCADE,
    FOREIGN KEY (tribe_id, space_id) REFERENCES tributary.tribe_space
);
ALTER TABLE tributary.lesson_vector ALTER COLUMN embedding SET STORAGE PLAIN; -- an exact scan must not visit TOAST
CREATE INDEX lesson_vector_believed ON tributary.lesson_vector (tribe_id, space_id, indexed) WHERE believed;
CREATE INDEX lesson_vector_past ON tributary.lesson_vector (tribe_id, space_id, indexed) WHERE NOT believed;
-- What waits beside an index: small, so that no plan reads the tribe's other vectors to find it.
CREATE INDEX lesson_vector_waiting ON tributary.lesson_vector (tribe_id, space_id) WHERE believed AND NOT indexed;
CREATE INDEX lesson_vector_lesson ON tributary.lesson_vector (tribe_id, lesson_id);

CREATE TABLE tributary.lesson_term (
    tribe_id    uuid NOT NULL,
    term        text NOT NULL,
    since_tick  bigint NOT NULL,
    lesson_id   uuid NOT NULL,
    PRIMARY KEY (tribe_id, term, since_tick, lesson_id) -- so that who held a term at a tick is one range
);

-- What a lesson can be filtered by (facets_v1), so that a narrow filter finds its lessons without a scan of the tribe.
CREATE TABLE tributary.lesson_facet (
    tribe_id   uuid NOT NULL,
    facet      bigint NOT NULL,
    lesson_id  uuid NOT NULL,
    PRIMARY KEY (tribe_id, facet, lesson_id)
);

CREATE TABLE tributary.lesson_event (
    tribe_id     uuid NOT NULL,
    tick         bigint NOT NULL,
    seq          smallint NOT NULL, -- order within the tick
    lesson_id    uuid NOT NULL,
    event        text NOT NULL CHECK (event IN
                 ('learned', 'pended', 'disputed', 'quarantined', 'reinforced', 'superseded', 'retired', 'evicted', 'erased',
                  'challenged', 'cleared')),
    status       text NOT NULL, -- the lesson's, after the event
    agent_id     uuid NOT NULL,
    decision_id  uuid,
    details      jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(details) = 'object'), -- ids and codes, never text
    at           timestamptz NOT NULL,
    PRIMARY KEY (tribe_id, tick, seq),
    FOREIGN KEY (tribe_id, lesson_id) REFERENCES tributary.lesson
);
CREATE INDEX lesson_event_lesson ON tributary.lesson_event (tribe_id, lesson_id, tick);
CREATE INDEX lesson_event_undecided ON tributary.lesson_event (tribe_id, lesson_id) WHERE status IN ('pending', 'disputed');
CREATE INDEX lesson_event_at ON tributary.lesson_event (tribe_id, at, tick); -- an instant resolves to a tick

-- What a tick did besides changing the standing of lessons: every tick has a row here or in lesson_event.
CREATE TABLE tributary.tribe_event (
    tribe_id     uuid NOT NULL,
    tick         bigint NOT NULL,
    event        text NOT NULL CHECK (event IN ('dispute_settled', 'space_switched', 'restored')),
    agent_id     uuid, -- NULL for the operator
    details      jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(details) = 'object'), -- ids and codes, never text
    at           timestamptz NOT NULL,
    PRIMARY KEY (tribe_id, tick, event)
);
CREATE INDEX tribe_event_at ON tributary.tribe_event (tribe_id, at, tick);

CREATE TABLE tributary.confirmation (
    tribe_id   uuid NOT NULL,
    lesson_id  uuid NOT NULL,
    agent_id   uuid NOT NULL,
    tick       bigint NOT NULL,
    at         timestamptz NOT NULL,
    PRIMARY KEY (tribe_id, lesson_id, agent_id), -- one agent counts once
    FOREIGN KEY (tribe_id, lesson_id) REFERENCES tributary.lesson,
    FOREIGN KEY (tribe_id, agent_id) REFERENCES tributary.agent
);

-- Two lessons that a verdict called conflicting. The cascade carries each one's believed flag here, and the CHECK refuses
-- whatever statement would switch on the second, in whichever session.
CREATE TABLE tributary.rival (
    tribe_id    uuid NOT NULL,
    a           uuid NOT NULL,
    b           uuid NOT NULL,
    a_on        boolean NOT NULL,
    b_on        boolean NOT NULL,
    since_tick  bigint NOT NULL,
    PRIMARY KEY (tribe_id, a, b),
    FOREIGN KEY (tribe_id, a, a_on) REFERENCES tributary.lesson (tribe_id, lesson_id, believed) ON UPDATE CASCADE,
    FOREIGN KEY (tribe_id, b, b_on) REFERENCES tributary.lesson (tribe_id, lesson_id, believed) ON UPDATE CASCADE,
    CONSTRAINT rival_ordered CHECK (a < b),
    CONSTRAINT rival_not_both CHECK (NOT (a_on AND b_on))
);
CREATE INDEX rival_b ON tributary.rival (tribe_id, b);

CREATE TABLE tributary.dispute (
    tribe_id     uuid NOT NULL,
    dispute_id   uuid NOT NULL,
    kind         text NOT NULL CHECK (kind IN ('conflict', 'unsure')),
    lesson_id    uuid NOT NULL, -- the contender
    decision_id  uuid NOT NULL,
    precedent    uuid, -- the lesson that a curator rejected when the same was said before
    state        text NOT NULL CHECK (state IN ('open', 'settled')),
    opened_tick  bigint NOT NULL,
    opened_at    timestamptz NOT NULL,
    closed_tick  bigint,
    closed_at    timestamptz,
    ending       text CHECK (ending IN ('accepted', 'rejected', 'both_stand', 'moot')), -- moot: it lost its point by other changes
    closed_by    uuid,
    rationale    text CHECK (octet_length(rationale) BETWEEN 1 AND 8192),
    PRIMARY KEY (tribe_id, dispute_id),
    FOREIGN KEY (tribe_id, lesson_id) REFERENCES tributary.lesson,
    FOREIGN KEY (tribe_id, precedent) REFERENCES tributary.lesson,
    CONSTRAINT dispute_ending CHECK (
        (state = 'open') = (ending IS NULL) AND (closed_by IS NULL) = (ending IS NULL OR ending = 'moot')
        AND (rationale IS NULL OR closed_by IS NOT NULL)),
    CONSTRAINT dispute_interval CHECK (
        (state = 'open') = (closed_tick IS NULL) AND (closed_tick IS NULL) = (closed_at IS NULL) AND closed_tick > opened_tick)
);
CREATE INDEX dispute_lesson ON tributary.dispute (tribe_id, lesson_id);
CREATE INDEX dispute_open ON tributary.dispute (tribe_id, opened_tick DESC, dispute_id) WHERE state = 'open';
CREATE INDEX dispute_newest ON tributary.dispute (tribe_id, opened_tick DESC, dispute_id);

CREATE TABLE tributary.dispute_about (
    tribe_id    uuid NOT NULL,
    lesson_id   uuid NOT NULL, -- the lesson that is challenged
    dispute_id  uuid NOT NULL,
    since_tick  bigint NOT NULL,
    PRIMARY KEY (tribe_id, lesson_id, dispute_id),
    FOREIGN KEY (tribe_id, lesson_id) REFERENCES tributary.lesson,
    FOREIGN KEY (tribe_id, dispute_id) REFERENCES tributary.dispute
);
CREATE INDEX dispute_about_dispute ON tributary.dispute_about (tribe_id, dispute_id);

CREATE TABLE tributary.decision (
    tribe_id     uuid NOT NULL,
    decision_id  uuid NOT NULL,
    tick         bigint NOT NULL,
    at           timestamptz NOT NULL,
    agent_id     uuid NOT NULL, -- for whom it was decided: the writer
    actor_id     uuid NOT NULL, -- who asked for it: the writer, or the curator who released or resolved
    lesson_id    uuid NOT NULL, -- the lesson that stands for what was said
    draft        jsonb CHECK (jsonb_typeof(draft) = 'object'), -- what was said, only when no lesson of its own holds it
    judged_tick  bigint NOT NULL,
    replans      integer NOT NULL,
    candidates   jsonb NOT NULL CHECK (jsonb_typeof(candidates) = 'array' AND NOT candidates @? 'strict $[*] ? (@.type() <> "object")'),
    verdicts     jsonb NOT NULL CHECK (jsonb_typeof(verdicts) = 'array' AND NOT verdicts @? 'strict $[*] ? (@.type() <> "object")'),
    screening    jsonb NOT NULL CHECK (jsonb_typeof(screening) = 'object'),
    outcome      text NOT NULL,
    reason       text NOT NULL,
    unjudged     boolean NOT NULL DEFAULT false, -- a model was missing: the gardener asks again
    tried_at     timestamptz,                    -- when the gardener last began to ask again; NULL for never
    useless      integer NOT NULL DEFAULT 0,     -- how often the model was asked again, and replied with nothing of use
    timed_out    integer NOT NULL DEFAULT 0,     -- how often it was asked again, and did not reply in time
    receipts     jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(receipts) = 'array'), -- that its writer cited: ids and ticks, no text
    PRIMARY KEY (tribe_id, decision_id),
    FOREIGN KEY (tribe_id, lesson_id) REFERENCES tributary.lesson
);
CREATE INDEX decision_newest ON tributary.decision (tribe_id, tick DESC, decision_id);
CREATE INDEX decision_lesson ON tributary.decision (tribe_id, lesson_id);
CREATE INDEX decision_unjudged ON tributary.decision (tribe_id, coalesce(tried_at, '-infinity'), decision_id) WHERE unjudged;

CREATE TABLE tributary.idempotency (
    tribe_id        uuid NOT NULL,
    agent_id        uuid NOT NULL,
    key             text NOT NULL,
    request_digest  bytea NOT NULL,
    reply           jsonb NOT NULL CHECK (jsonb_typeof(reply) = 'object'), -- ids, codes and ticks, never text
    at              timestamptz NOT NULL,
    PRIMARY KEY (tribe_id, agent_id, key)
);

CREATE TABLE tributary.audit (
    tribe_id  uuid NOT NULL,
    audit_id  uuid NOT NULL,
    at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    agent_id  uuid,
    action    text NOT NULL,
    code      text NOT NULL,
    detail    text NOT NULL,
    PRIMARY KEY (tribe_id, audit_id)
);

CREATE TABLE tributary.usage (
    tribe_id   uuid NOT NULL,
    agent_id   uuid NOT NULL,
    day        date NOT NULL,
    operation  text NOT NULL,
    calls      bigint NOT NULL,
    PRIMARY KEY (tribe_id, agent_id, day, operation)
) WITH (fillfactor = 50);

CREATE TABLE tributary.signing_key (
    key_id      text PRIMARY KEY,
    secret      bytea NOT NULL CHECK (octet_length(secret) = 32),
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    retired_at  timestamptz
);
INSERT INTO tributary.signing_key (key_id, secret)
VALUES ('k1', sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')));

-- The oldest version of the code (store.CODE_LEVEL) that may run on this schema. Raised only by a contracting migration.
CREATE TABLE tributary.schema_requirement (
    only_row     boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    oldest_code  integer NOT NULL
);
INSERT INTO tributary.schema_requirement (oldest_code) VALUES (1);
