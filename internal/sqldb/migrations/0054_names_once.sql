-- The names of ordered dishes are stored once, and an order's first hold needs no id of its own (decision 87).

-- +goose Up
-- Rows never change and are never deleted.
CREATE TABLE item_name (
    id     @identity,
    digest @key NOT NULL UNIQUE, -- of name and names; rows of earlier releases have one that no text has
    name   TEXT NOT NULL,        -- in the first locale of the branch
    names  TEXT NOT NULL         -- JSON by locale; empty: name alone is known
);
INSERT INTO item_name (digest, name, names)
SELECT 'before-' || row_number() OVER (ORDER BY d.name_snapshot, d.names), d.name_snapshot, d.names
FROM (SELECT DISTINCT name_snapshot, names FROM order_item) AS d;
-- A new table has no dead rows, unlike one that is updated. Columns of eight bytes stand together, because PostgreSQL
-- pads between columns of different sizes.
ALTER TABLE order_item RENAME TO order_item_before;
/*pg: ALTER INDEX order_item_pkey RENAME TO order_item_before_pkey;*/
CREATE TABLE order_item (
    order_id       @key NOT NULL,
    line           INTEGER NOT NULL,
    menu_item_id   BIGINT NOT NULL,
    dish_id        BIGINT NOT NULL,
    name_id        BIGINT NOT NULL,               -- item_name
    price_snapshot BIGINT NOT NULL,
    qty            BIGINT NOT NULL CHECK (qty > 0),
    done_at        BIGINT,                        -- when the kitchen marked the line as done
    notes          TEXT NOT NULL DEFAULT '',
    options        TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (order_id, line)
);
INSERT INTO order_item (order_id, line, menu_item_id, dish_id, name_id, price_snapshot, qty, done_at, notes, options)
SELECT i.order_id, i.line, i.menu_item_id, i.dish_id, n.id, i.price_snapshot, i.qty, i.done_at, i.notes, i.options
FROM order_item_before i
JOIN item_name n ON n.name = i.name_snapshot AND n.names = i.names
ORDER BY i.order_id, i.line;
DROP TABLE order_item_before;
-- hold_id is empty for an order's first hold, which has the order's id. Orders of earlier releases keep theirs.
DROP INDEX order_info_hold;
CREATE INDEX order_info_hold ON order_info (hold_id) WHERE hold_id <> id AND hold_id <> '';
INSERT INTO schema_floor (version, oldest) VALUES (54, 54);

-- +goose Down
UPDATE order_info SET hold_id = id WHERE hold_id = '';
DROP INDEX order_info_hold;
CREATE INDEX order_info_hold ON order_info (hold_id) WHERE hold_id <> id;
ALTER TABLE order_item RENAME TO order_item_names_once;
/*pg: ALTER INDEX order_item_pkey RENAME TO order_item_names_once_pkey;*/
CREATE TABLE order_item (
    order_id       @key NOT NULL,
    line           INTEGER NOT NULL,
    menu_item_id   BIGINT NOT NULL,
    dish_id        BIGINT NOT NULL,
    name_snapshot  TEXT NOT NULL,
    price_snapshot BIGINT NOT NULL,
    qty            BIGINT NOT NULL CHECK (qty > 0),
    notes          TEXT NOT NULL DEFAULT '',
    done_at        BIGINT,
    names          TEXT NOT NULL DEFAULT '',
    options        TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (order_id, line)
);
INSERT INTO order_item (order_id, line, menu_item_id, dish_id, name_snapshot, price_snapshot, qty, notes, done_at, names, options)
SELECT i.order_id, i.line, i.menu_item_id, i.dish_id, coalesce(n.name, ''), i.price_snapshot, i.qty, i.notes, i.done_at,
       coalesce(n.names, ''), i.options
FROM order_item_names_once i
LEFT JOIN item_name n ON n.id = i.name_id;
DROP TABLE order_item_names_once;
DROP TABLE item_name;
DELETE FROM schema_floor WHERE version = 54;
