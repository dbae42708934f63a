-- Notices for members, guests and staff, who has read them, and their delivery by Web Push.

-- +goose Up
CREATE TABLE notice (
    id         @key PRIMARY KEY,
    audience   @key NOT NULL,                              -- see notice.Audience
    kind       @key NOT NULL,
    event_id   @key NOT NULL,
    branch_id  BIGINT NOT NULL,
    order_id   @key,                                       -- NULL: not about an order
    data       TEXT NOT NULL,                              -- JSON, see notice.Data
    created_at BIGINT NOT NULL,
    UNIQUE (audience, event_id)
);
CREATE INDEX notice_newest ON notice (audience, id);
CREATE INDEX notice_age ON notice (created_at);
CREATE TABLE notice_read (
    reader    @key NOT NULL,                               -- see notice.Reader
    notice_id @key NOT NULL,
    read_at   BIGINT NOT NULL,
    PRIMARY KEY (reader, notice_id)
);
CREATE INDEX notice_read_age ON notice_read (read_at);
-- The kinds of notices that a person wants; without a row, the default of the kind applies.
CREATE TABLE notice_choice (
    reader     @key NOT NULL,
    kind       @key NOT NULL,
    bell       SMALLINT NOT NULL,
    push       SMALLINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (reader, kind)
);
-- Browsers that accept notices while the page is closed.
CREATE TABLE push_subscription (
    id         @key PRIMARY KEY,                           -- SHA-256 of the endpoint
    reader     @key NOT NULL,
    audience   @key NOT NULL,
    session_id @key,                                       -- login of a member; NULL: a guest
    endpoint   TEXT NOT NULL,                              -- secret: it allows sending to the browser
    p256dh     TEXT NOT NULL,
    auth       TEXT NOT NULL,
    locale     TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX push_subscription_audience ON push_subscription (audience);
CREATE INDEX push_subscription_reader ON push_subscription (reader, created_at);
CREATE TABLE push_outbox (
    id              @key PRIMARY KEY,
    subscription_id @key NOT NULL,
    payload         TEXT NOT NULL,                         -- JSON
    urgency         TEXT NOT NULL,
    created_at      BIGINT NOT NULL,
    available_at    BIGINT NOT NULL,
    expires_at      BIGINT NOT NULL,                       -- no longer sent after this
    attempts        INTEGER NOT NULL DEFAULT 0,
    last_error      TEXT NOT NULL DEFAULT '',
    dead            SMALLINT NOT NULL DEFAULT 0
);
CREATE INDEX push_outbox_due ON push_outbox (available_at) WHERE dead = 0;
INSERT INTO schema_floor (version, oldest) VALUES (48, 40);

-- +goose Down
DROP TABLE push_outbox;
DROP TABLE push_subscription;
DROP TABLE notice_choice;
DROP TABLE notice_read;
DROP TABLE notice;
DELETE FROM schema_floor WHERE version = 48;
