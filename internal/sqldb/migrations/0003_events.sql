-- Events: stored in the transaction of their change, published after its commit, applied once by each consumer.

-- +goose Up
CREATE TABLE outbox_events (
    id            @key PRIMARY KEY,
    aggregate     TEXT NOT NULL,
    aggregate_id  @key NOT NULL,
    aggregate_seq BIGINT NOT NULL,
    branch_id     BIGINT NOT NULL,
    event_type    TEXT NOT NULL,
    payload       TEXT NOT NULL,
    created_at    BIGINT NOT NULL,
    available_at  BIGINT NOT NULL,
    attempts      INTEGER NOT NULL DEFAULT 0
) /*pg: WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000)*/;

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

CREATE TABLE consumer_dedupe (
    consumer_name @key NOT NULL,
    message_id    @key NOT NULL,
    processed_at  BIGINT NOT NULL,
    PRIMARY KEY (consumer_name, message_id)
);
CREATE INDEX consumer_dedupe_processed ON consumer_dedupe (processed_at);

CREATE TABLE consumer_failure (
    consumer_name @key NOT NULL,
    message_id    @key NOT NULL,
    attempts      INTEGER NOT NULL,
    last_error    TEXT NOT NULL,
    failed_at     BIGINT NOT NULL,
    PRIMARY KEY (consumer_name, message_id)
);

-- Dead letters: events that the relay could not publish (consumer_name is empty) or one consumer could not apply.
CREATE TABLE dead_event (
    id            @key NOT NULL,
    consumer_name @key NOT NULL DEFAULT '',
    aggregate     TEXT NOT NULL,
    aggregate_id  @key NOT NULL,
    aggregate_seq BIGINT NOT NULL,
    branch_id     BIGINT NOT NULL,
    event_type    TEXT NOT NULL,
    payload       TEXT NOT NULL,
    created_at    BIGINT NOT NULL,
    reason        TEXT NOT NULL,
    died_at       BIGINT NOT NULL,
    PRIMARY KEY (id, consumer_name)
);

-- The daily figures of a branch, written by a consumer of order events.
CREATE TABLE daybook (
    branch_id BIGINT NOT NULL,
    biz_date  @key NOT NULL,
    placed    BIGINT NOT NULL DEFAULT 0,
    paid      BIGINT NOT NULL DEFAULT 0,
    canceled  BIGINT NOT NULL DEFAULT 0,
    revenue   BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (branch_id, biz_date)
);

-- +goose Down
DROP TABLE daybook;
DROP TABLE dead_event;
DROP TABLE consumer_failure;
DROP TABLE consumer_dedupe;
DROP TABLE event_log;
DROP TABLE outbox_events;
