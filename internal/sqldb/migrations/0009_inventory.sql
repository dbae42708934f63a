-- The stock of branches: items that are counted over days, their adjustments, and the recipes of dishes.

-- +goose Up
CREATE TABLE stock_item (
    id         @identity,
    branch_id  BIGINT NOT NULL REFERENCES branch (id),
    sku        @key NOT NULL,                               -- name by its owner
    name       TEXT NOT NULL DEFAULT '',
    unit       TEXT NOT NULL DEFAULT '',
    low_at     BIGINT CHECK (low_at >= 0),                  -- NULL: no alarm
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (branch_id, sku)
);

CREATE INDEX stock_item_sku ON stock_item (sku);

CREATE TABLE inventory (
    branch_id BIGINT NOT NULL,
    item_id   BIGINT NOT NULL REFERENCES stock_item (id),
    available BIGINT NOT NULL DEFAULT 0 CHECK (available >= 0),
    reserved  BIGINT NOT NULL DEFAULT 0 CHECK (reserved >= 0),
    sold      BIGINT NOT NULL DEFAULT 0 CHECK (sold >= 0),
    PRIMARY KEY (branch_id, item_id)
) /*pg: WITH (fillfactor = 50)*/;

-- Changes of units by other means than a hold: they add up to available + reserved + sold.
CREATE TABLE stock_adjustment (
    id         @key PRIMARY KEY,
    branch_id  BIGINT NOT NULL,
    item_id    BIGINT NOT NULL REFERENCES stock_item (id),
    kind       TEXT NOT NULL CHECK (kind IN ('RECEIVE', 'COUNT', 'WASTE')),
    units      BIGINT NOT NULL,                             -- negative where there are fewer now
    available  BIGINT NOT NULL,                             -- afterwards
    note       TEXT NOT NULL DEFAULT '',
    actor      TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX stock_adjustment_item ON stock_adjustment (item_id, id);

CREATE TABLE recipe_line (
    menu_item_id BIGINT NOT NULL REFERENCES menu_item (id),
    item_id      BIGINT NOT NULL REFERENCES stock_item (id),
    qty          BIGINT NOT NULL CHECK (qty > 0),           -- of the stock item, for one portion
    PRIMARY KEY (menu_item_id, item_id)
);

-- The most requested stock items, which a process loads when it starts.
CREATE TABLE stock_rank (
    item_id    BIGINT PRIMARY KEY REFERENCES stock_item (id),
    score      BIGINT NOT NULL CHECK (score >= 0),
    updated_at BIGINT NOT NULL
);

-- A hold's lines now contain menu items and stock items. SQLite cannot change a primary key.
CREATE TABLE hold_taken (
    hold_id @key NOT NULL,
    stock   INTEGER NOT NULL DEFAULT 0,                     -- 1: item_id is a stock item
    item_id BIGINT NOT NULL,
    qty     BIGINT NOT NULL CHECK (qty > 0),
    PRIMARY KEY (hold_id, stock, item_id)
);
INSERT INTO hold_taken (hold_id, stock, item_id, qty) SELECT hold_id, 0, menu_item_id, qty FROM hold_line;
DROP TABLE hold_line;
ALTER TABLE hold_taken RENAME TO hold_line;

-- Reservations of other systems are holds without a business date.
CREATE INDEX hold_reservation ON hold (branch_id, updated_at) WHERE biz_date = '';
CREATE INDEX hold_reservation_due ON hold (expires_at) WHERE biz_date = '' AND state = 'HELD';

-- Reservations whose confirmation arrived before the message that creates them.
CREATE TABLE early_confirm (
    hold_id    @key PRIMARY KEY,
    created_at BIGINT NOT NULL
);

-- An entry that Redis refuses is retried with growing pauses. After the last attempt it is dead and is kept with its error.
ALTER TABLE redis_outbox ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE redis_outbox ADD COLUMN due_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE redis_outbox ADD COLUMN dead_at BIGINT;
ALTER TABLE redis_outbox ADD COLUMN error TEXT;

-- +goose Down
ALTER TABLE redis_outbox DROP COLUMN error;
ALTER TABLE redis_outbox DROP COLUMN dead_at;
ALTER TABLE redis_outbox DROP COLUMN due_at;
ALTER TABLE redis_outbox DROP COLUMN attempts;
DROP TABLE early_confirm;
DROP INDEX hold_reservation_due;
DROP INDEX hold_reservation;
CREATE TABLE hold_quota (
    hold_id      @key NOT NULL,
    menu_item_id BIGINT NOT NULL,
    qty          BIGINT NOT NULL CHECK (qty > 0),
    PRIMARY KEY (hold_id, menu_item_id)
);
INSERT INTO hold_quota (hold_id, menu_item_id, qty) SELECT hold_id, item_id, qty FROM hold_line WHERE stock = 0;
DROP TABLE hold_line;
ALTER TABLE hold_quota RENAME TO hold_line;
DELETE FROM hold WHERE biz_date = '';
DROP TABLE stock_rank;
DROP TABLE recipe_line;
DROP TABLE stock_adjustment;
DROP TABLE inventory;
DROP TABLE stock_item;
