-- Refunds with an unknown outcome or made elsewhere, the refunds of a gateway before one was sent,
-- captures of amounts that were not requested, and the senders of reports.

-- +goose Up
CREATE TABLE refund_sent (
    id          @key PRIMARY KEY,
    order_id    @key NOT NULL,
    attempt_id  @key NOT NULL,
    method      TEXT NOT NULL,
    amount      BIGINT NOT NULL CHECK (amount > 0),
    currency    TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('DUE', 'SENDING', 'DONE', 'REFUSED', 'UNKNOWN')),
    reason      TEXT NOT NULL,                            -- reason of the refund, or STAFF
    note        TEXT NOT NULL DEFAULT '',                 -- text of the staff
    decided_by  @key NOT NULL DEFAULT '',
    gateway_ref TEXT NOT NULL DEFAULT '',
    portal_ref  TEXT NOT NULL DEFAULT '',                 -- of a refund that was made in the gateway's portal first
    code        TEXT NOT NULL DEFAULT '',                 -- last response of the gateway
    send_at     BIGINT,                                   -- time of the next sending; NULL: the server does not send it
    tries       INTEGER NOT NULL DEFAULT 0,               -- since the last decision to send it
    sent_before TEXT,                                     -- the gateway's refunds before it was sent; NULL: not sent
    created_at  BIGINT NOT NULL,
    done_at     BIGINT
);
INSERT INTO refund_sent (
    id, order_id, attempt_id, method, amount, currency, state, reason, note, decided_by, gateway_ref, code, send_at, tries,
    sent_before, created_at, done_at)
SELECT id, order_id, attempt_id, method, amount, currency, state, reason, note, decided_by, gateway_ref, code,
       CASE state WHEN 'SENDING' THEN coalesce(send_at, 0) END, tries, CASE WHEN tries > 0 THEN '' END, created_at, done_at
FROM refund;
DROP TABLE refund;
ALTER TABLE refund_sent RENAME TO refund;
CREATE INDEX refund_open ON refund (created_at) WHERE state <> 'DONE';
CREATE INDEX refund_send ON refund (send_at) WHERE send_at IS NOT NULL;
CREATE INDEX refund_order ON refund (order_id);
CREATE INDEX refund_attempt ON refund (attempt_id);
CREATE UNIQUE INDEX refund_obligation ON refund (attempt_id) WHERE reason <> 'STAFF';

-- A capture has one row, however often it is reported. Staff record how they have resolved it.
CREATE TABLE payment_mismatch (
    attempt_id  @key NOT NULL,
    order_id    @key NOT NULL,
    amount      BIGINT NOT NULL,                          -- as the gateway reports it
    currency    TEXT NOT NULL,
    reported_at BIGINT NOT NULL,
    cleared_at  BIGINT,                                   -- NULL: not cleared yet
    PRIMARY KEY (attempt_id, amount, currency)
);
CREATE INDEX payment_mismatch_open ON payment_mismatch (reported_at) WHERE cleared_at IS NULL;

ALTER TABLE payment_event ADD COLUMN headers TEXT NOT NULL DEFAULT ''; -- of the request, those that identify the sender

-- +goose Down
ALTER TABLE payment_event DROP COLUMN headers;
DROP TABLE payment_mismatch;
CREATE TABLE refund_part (
    id          @key PRIMARY KEY,
    order_id    @key NOT NULL,
    attempt_id  @key NOT NULL,
    method      TEXT NOT NULL,
    amount      BIGINT NOT NULL CHECK (amount > 0),
    currency    TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('DUE', 'SENDING', 'DONE', 'REFUSED')),
    reason      TEXT NOT NULL,
    note        TEXT NOT NULL DEFAULT '',
    decided_by  @key NOT NULL DEFAULT '',
    gateway_ref TEXT NOT NULL DEFAULT '',
    code        TEXT NOT NULL DEFAULT '',
    send_at     BIGINT,
    tries       INTEGER NOT NULL DEFAULT 0,
    created_at  BIGINT NOT NULL,
    done_at     BIGINT
);
INSERT INTO refund_part (
    id, order_id, attempt_id, method, amount, currency, state, reason, note, decided_by, gateway_ref, code, send_at, tries,
    created_at, done_at)
SELECT id, order_id, attempt_id, method, amount, currency, CASE state WHEN 'UNKNOWN' THEN 'REFUSED' ELSE state END, reason,
       note, decided_by, gateway_ref, code, send_at, tries, created_at, done_at
FROM refund;
DROP TABLE refund;
ALTER TABLE refund_part RENAME TO refund;
CREATE INDEX refund_open ON refund (created_at) WHERE state <> 'DONE';
CREATE INDEX refund_send ON refund (send_at) WHERE send_at IS NOT NULL;
CREATE INDEX refund_order ON refund (order_id);
CREATE INDEX refund_attempt ON refund (attempt_id);
CREATE UNIQUE INDEX refund_obligation ON refund (attempt_id) WHERE reason <> 'STAFF';
