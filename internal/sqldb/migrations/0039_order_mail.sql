-- E-mails about orders: which were queued, and which of them a member wants.

-- +goose Up
-- One row per e-mail that was ever queued about an order, so that each is queued once. E-mails that were sent leave
-- mail_outbox. subject is the refund of a refund's e-mail; empty for others.
CREATE TABLE order_mail (
    order_id   @key NOT NULL,
    kind       @key NOT NULL,                           -- RECEIVED, PAID, CANCELED, EXPIRED, REFUNDED, READY
    subject    @key NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (order_id, kind, subject)
);
-- The choices of accounts. An account without a row gets all e-mails, in the language of the order's branch.
CREATE TABLE account_mail (
    user_id        BIGINT PRIMARY KEY REFERENCES app_user (id),
    locale         TEXT NOT NULL,                       -- en, vi or zh-TW; empty: the language of the order's branch
    order_received SMALLINT NOT NULL DEFAULT 1,         -- 0: no e-mail when an order was received
    order_ready    SMALLINT NOT NULL DEFAULT 1,
    updated_at     BIGINT NOT NULL
);
-- An e-mail about an order is filled from the order when it is sent. Without an order it has only its fields.
ALTER TABLE mail_outbox ADD COLUMN order_id @key;
ALTER TABLE mail_outbox ADD COLUMN subject @key;         -- as in order_mail
INSERT INTO schema_floor (version, oldest) VALUES (39, 36);

-- +goose Down
ALTER TABLE mail_outbox DROP COLUMN subject;
ALTER TABLE mail_outbox DROP COLUMN order_id;
DROP TABLE account_mail;
DROP TABLE order_mail;
DELETE FROM schema_floor WHERE version = 39;
