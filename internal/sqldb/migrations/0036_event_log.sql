-- Events are written once: the log receives them with their change, and the relay reads it by position.

-- +goose Up
-- Both at once, in the order of a relay of the previous version, so that neither waits for the other.
/*pg: LOCK TABLE outbox_events, event_log IN ACCESS EXCLUSIVE MODE;*/
ALTER TABLE event_log RENAME TO event_log_before;
/*pg: ALTER INDEX event_log_pkey RENAME TO event_log_before_pkey;*/
CREATE TABLE event_log (
    position      @identity,
    id            @key NOT NULL,
    aggregate     TEXT NOT NULL,
    aggregate_id  @key NOT NULL,
    aggregate_seq BIGINT NOT NULL,
    branch_id     BIGINT NOT NULL,
    event_type    TEXT NOT NULL,
    payload       TEXT NOT NULL,
    created_at    BIGINT NOT NULL
);
INSERT INTO event_log (id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at)
SELECT id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at
FROM event_log_before
ORDER BY id;
DROP TABLE event_log_before;
-- Events that wait for another attempt are in the log too.
INSERT INTO event_log (id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at)
SELECT id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at
FROM outbox_events
ORDER BY id;
-- The position of the relay: events up to it are published, in event_retry or in dead_event. The only row has id 1.
CREATE TABLE event_cursor (
    id              SMALLINT PRIMARY KEY CHECK (id = 1),
    position        BIGINT NOT NULL,
    published_until BIGINT NOT NULL -- events up to this position may have been published outside of the cursor's transaction
);
INSERT INTO event_cursor (id, position, published_until)
SELECT 1, coalesce(max(position), 0), coalesce(max(position), 0) FROM event_log;
ALTER TABLE outbox_events RENAME TO event_retry;
INSERT INTO schema_floor (version, oldest) VALUES (36, 36);

-- +goose Down
ALTER TABLE event_retry RENAME TO outbox_events;
INSERT INTO outbox_events (id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at, available_at, attempts)
SELECT id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at, 0, 0
FROM event_log
WHERE position > (SELECT position FROM event_cursor) AND id NOT IN (SELECT id FROM outbox_events);
ALTER TABLE event_log RENAME TO event_log_by_position;
/*pg: ALTER INDEX event_log_pkey RENAME TO event_log_by_position_pkey;*/
CREATE TABLE event_log (
    id            @key PRIMARY KEY,
    aggregate     TEXT NOT NULL,
    aggregate_id  @key NOT NULL,
    aggregate_seq BIGINT NOT NULL,
    branch_id     BIGINT NOT NULL,
    event_type    TEXT NOT NULL,
    payload       TEXT NOT NULL,
    created_at    BIGINT NOT NULL,
    published_at  BIGINT NOT NULL
);
INSERT INTO event_log (id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at, published_at)
SELECT id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at, created_at
FROM event_log_by_position
WHERE id NOT IN (SELECT id FROM outbox_events) AND id NOT IN (SELECT id FROM dead_event WHERE consumer_name = '');
DROP TABLE event_log_by_position;
DROP TABLE event_cursor;
DELETE FROM schema_floor WHERE version = 36;
