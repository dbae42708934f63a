-- SQLite stores the lines of an order in their primary key (decision 88). PostgreSQL changes nothing.

-- +goose Up
-- A table without rowids is one B-tree instead of two. Lines are read by their order only, and later orders have greater ids, so
-- new lines extend its last page.
/*sqlite: ALTER TABLE order_item RENAME TO order_item_before;*/
/*sqlite: CREATE TABLE order_item (
    order_id       TEXT NOT NULL,
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
) WITHOUT ROWID;*/
/*sqlite: INSERT INTO order_item SELECT * FROM order_item_before ORDER BY order_id, line;*/
/*sqlite: DROP TABLE order_item_before;*/
INSERT INTO schema_floor (version, oldest) VALUES (57, 54);

-- +goose Down
/*sqlite: ALTER TABLE order_item RENAME TO order_item_by_order;*/
/*sqlite: CREATE TABLE order_item (
    order_id       TEXT NOT NULL,
    line           INTEGER NOT NULL,
    menu_item_id   BIGINT NOT NULL,
    dish_id        BIGINT NOT NULL,
    name_id        BIGINT NOT NULL,
    price_snapshot BIGINT NOT NULL,
    qty            BIGINT NOT NULL CHECK (qty > 0),
    done_at        BIGINT,
    notes          TEXT NOT NULL DEFAULT '',
    options        TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (order_id, line)
);*/
/*sqlite: INSERT INTO order_item SELECT * FROM order_item_by_order ORDER BY order_id, line;*/
/*sqlite: DROP TABLE order_item_by_order;*/
DELETE FROM schema_floor WHERE version = 57;
