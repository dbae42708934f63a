-- The ledger: the rows that decide about holds, orders and money.

-- +goose Up
CREATE TABLE sales_quota_counter (
    branch_id    BIGINT NOT NULL,
    stat_date    @key NOT NULL,
    menu_item_id BIGINT NOT NULL,
    slot_key     @key NOT NULL DEFAULT 'ALL_DAY',
    cap          BIGINT CHECK (cap >= 0),                   -- NULL is unlimited; may be set below what is held and used
    held_qty     BIGINT NOT NULL DEFAULT 0 CHECK (held_qty >= 0),
    used_qty     BIGINT NOT NULL DEFAULT 0 CHECK (used_qty >= 0),
    PRIMARY KEY (branch_id, stat_date, menu_item_id, slot_key)
) /*pg: WITH (fillfactor = 50)*/;

CREATE TABLE hold (
    id         @key PRIMARY KEY,
    branch_id  BIGINT NOT NULL,
    biz_date   @key NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('HELD', 'CONFIRMED', 'RELEASED', 'RETURNED')),
    reason     TEXT,
    digest     TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
) /*pg: WITH (fillfactor = 80)*/;
CREATE INDEX hold_due ON hold (expires_at) WHERE state = 'HELD';
CREATE INDEX hold_scope ON hold (branch_id, biz_date);

CREATE TABLE hold_line (
    hold_id      @key NOT NULL,
    menu_item_id BIGINT NOT NULL,
    qty          BIGINT NOT NULL CHECK (qty > 0),
    PRIMARY KEY (hold_id, menu_item_id)
);

-- The epoch that Redis must have for a scope, and the claim of a rebuild in progress.
CREATE TABLE gate_scope (
    branch_id     BIGINT NOT NULL,
    biz_date      @key NOT NULL,
    epoch         TEXT NOT NULL,
    rebuilt_until BIGINT NOT NULL,                          -- a rebuild in progress owns the scope until then
    PRIMARY KEY (branch_id, biz_date)
);

-- Changes to be applied to Redis after a commit: one row per transaction and scope.
CREATE TABLE redis_outbox (
    id         @key PRIMARY KEY,
    branch_id  BIGINT NOT NULL,
    biz_date   @key NOT NULL,
    ops        TEXT NOT NULL,                               -- JSON array of operations, each idempotent
    created_at BIGINT NOT NULL
);

CREATE TABLE idempotency (
    scope      @key NOT NULL,
    key        @key NOT NULL,
    digest     TEXT NOT NULL,
    status     INTEGER NOT NULL,
    ref        TEXT NOT NULL,                               -- the order, with which a repeated request is answered
    created_at BIGINT NOT NULL,
    PRIMARY KEY (scope, key)
);

-- The last order number of a branch on a business date.
CREATE TABLE order_number (
    branch_id BIGINT NOT NULL,
    biz_date  @key NOT NULL,
    last      BIGINT NOT NULL,
    PRIMARY KEY (branch_id, biz_date)
) /*pg: WITH (fillfactor = 50)*/;

CREATE TABLE order_info (
    id              @key PRIMARY KEY,
    branch_id       BIGINT NOT NULL,
    kind            TEXT NOT NULL CHECK (kind IN ('DINE_IN', 'DELIVERY', 'PICKUP')),
    visit_id        @key,
    guest_hash      @key,                                   -- whose phone placed it
    menu_version_id BIGINT NOT NULL,
    hold_id         @key NOT NULL,
    client_txn_id   @key NOT NULL,
    biz_date        @key NOT NULL,
    number          BIGINT NOT NULL,
    status          TEXT NOT NULL,
    payment_status  TEXT NOT NULL,
    payment_method  TEXT NOT NULL,
    cancel_reason   TEXT,
    total_amount    BIGINT NOT NULL CHECK (total_amount >= 0),
    currency        TEXT NOT NULL,
    pay_by          BIGINT NOT NULL,
    expires_at      BIGINT NOT NULL,
    paid_at         BIGINT,
    canceled_at     BIGINT,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    version         BIGINT NOT NULL DEFAULT 1,
    UNIQUE (branch_id, client_txn_id)
) /*pg: WITH (fillfactor = 70)*/;
CREATE INDEX order_info_visit ON order_info (visit_id);

CREATE TABLE order_item (
    order_id       @key NOT NULL,
    line           INTEGER NOT NULL,
    menu_item_id   BIGINT NOT NULL,
    dish_id        BIGINT NOT NULL,
    name_snapshot  TEXT NOT NULL,
    price_snapshot BIGINT NOT NULL,
    qty            BIGINT NOT NULL CHECK (qty > 0),
    notes          TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (order_id, line)
);

CREATE TABLE payment_attempt (
    id          @key PRIMARY KEY,
    order_id    @key NOT NULL,
    method      TEXT NOT NULL,
    amount      BIGINT NOT NULL CHECK (amount >= 0),
    currency    TEXT NOT NULL,
    state       TEXT NOT NULL,
    gateway_ref TEXT NOT NULL DEFAULT '',
    created_at  BIGINT NOT NULL,
    settled_at  BIGINT
) /*pg: WITH (fillfactor = 80)*/;
CREATE INDEX payment_attempt_order ON payment_attempt (order_id);

CREATE TABLE payment_event (
    id          @key PRIMARY KEY,
    attempt_id  @key,
    order_id    @key,
    method      TEXT NOT NULL,
    source      TEXT NOT NULL,                              -- callback, staff
    raw         TEXT NOT NULL,
    verdict     TEXT NOT NULL,
    received_at BIGINT NOT NULL
);
CREATE INDEX payment_event_order ON payment_event (order_id);

-- Refunds. A capture belongs to one PAID order or to one row here.
CREATE TABLE refund (
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
CREATE INDEX refund_due ON refund (created_at) WHERE state = 'DUE';
CREATE INDEX refund_order ON refund (order_id);

-- +goose Down
DROP TABLE refund;
DROP TABLE payment_event;
DROP TABLE payment_attempt;
DROP TABLE order_item;
DROP TABLE order_info;
DROP TABLE order_number;
DROP TABLE idempotency;
DROP TABLE redis_outbox;
DROP TABLE gate_scope;
DROP TABLE hold_line;
DROP TABLE hold;
DROP TABLE sales_quota_counter;
