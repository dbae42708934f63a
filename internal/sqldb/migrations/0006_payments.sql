-- Payments through gateways: the page that the guest was sent to, the time of the next query, and partial refunds.

-- +goose Up
ALTER TABLE payment_attempt ADD COLUMN redirect_url TEXT NOT NULL DEFAULT '';
ALTER TABLE payment_attempt ADD COLUMN check_at BIGINT;           -- time of the next query to the gateway; NULL: none
ALTER TABLE payment_attempt ADD COLUMN checks INTEGER NOT NULL DEFAULT 0;
CREATE INDEX payment_attempt_check ON payment_attempt (check_at) WHERE check_at IS NOT NULL;
CREATE INDEX payment_attempt_open ON payment_attempt (state, created_at) WHERE state IN ('REVIEW', 'UNKNOWN');
CREATE INDEX payment_event_odd ON payment_event (received_at) WHERE verdict IN ('AMOUNT_MISMATCH', 'FORGED', 'UNKNOWN_REF');

ALTER TABLE order_info ADD COLUMN refunded_amount BIGINT NOT NULL DEFAULT 0 CHECK (refunded_amount >= 0);

-- A refund may be part of a capture. The server sends it to the gateway, or staff pay it back by hand.
CREATE TABLE refund_part (
    id          @key PRIMARY KEY,
    order_id    @key NOT NULL,
    attempt_id  @key NOT NULL,
    method      TEXT NOT NULL,
    amount      BIGINT NOT NULL CHECK (amount > 0),
    currency    TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('DUE', 'SENDING', 'DONE', 'REFUSED')),
    reason      TEXT NOT NULL,                            -- reason of the refund, or STAFF
    note        TEXT NOT NULL DEFAULT '',                 -- text of the staff
    decided_by  @key NOT NULL DEFAULT '',
    gateway_ref TEXT NOT NULL DEFAULT '',
    code        TEXT NOT NULL DEFAULT '',                 -- last response of the gateway
    send_at     BIGINT,                                   -- time of the next sending; NULL: the server does not send it
    tries       INTEGER NOT NULL DEFAULT 0,
    created_at  BIGINT NOT NULL,
    done_at     BIGINT
);
INSERT INTO refund_part (id, order_id, attempt_id, method, amount, currency, state, reason, created_at, done_at)
SELECT f.id, f.order_id, f.attempt_id, a.method, f.amount, f.currency, f.state, f.reason, f.created_at, f.done_at
FROM refund f
JOIN payment_attempt a ON a.id = f.attempt_id;
DROP TABLE refund;
ALTER TABLE refund_part RENAME TO refund;
CREATE INDEX refund_open ON refund (created_at) WHERE state <> 'DONE';
CREATE INDEX refund_send ON refund (send_at) WHERE send_at IS NOT NULL;
CREATE INDEX refund_order ON refund (order_id);
CREATE INDEX refund_attempt ON refund (attempt_id);
CREATE UNIQUE INDEX refund_obligation ON refund (attempt_id) WHERE reason <> 'STAFF';

-- +goose Down
CREATE TABLE refund_whole (
    id          @key PRIMARY KEY,
    order_id    @key NOT NULL,
    attempt_id  @key NOT NULL UNIQUE,
    amount      BIGINT NOT NULL CHECK (amount > 0),
    currency    TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('DUE', 'DONE')),
    reason      TEXT NOT NULL,
    created_at  BIGINT NOT NULL,
    done_at     BIGINT
);
INSERT INTO refund_whole (id, order_id, attempt_id, amount, currency, state, reason, created_at, done_at)
SELECT id, order_id, attempt_id, amount, currency, CASE state WHEN 'DONE' THEN 'DONE' ELSE 'DUE' END, reason, created_at, done_at
FROM refund WHERE reason <> 'STAFF';
DROP TABLE refund;
ALTER TABLE refund_whole RENAME TO refund;
CREATE INDEX refund_due ON refund (created_at) WHERE state = 'DUE';
CREATE INDEX refund_order ON refund (order_id);
ALTER TABLE order_info DROP COLUMN refunded_amount;
DROP INDEX payment_event_odd;
DROP INDEX payment_attempt_open;
DROP INDEX payment_attempt_check;
ALTER TABLE payment_attempt DROP COLUMN checks;
ALTER TABLE payment_attempt DROP COLUMN check_at;
ALTER TABLE payment_attempt DROP COLUMN redirect_url;
