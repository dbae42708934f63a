-- JSON documents in Redis: the changes to be projected, and the columns that documents show.

-- +goose Up
ALTER TABLE category ADD COLUMN descriptions TEXT NOT NULL DEFAULT '{}';
ALTER TABLE category ADD COLUMN created_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE category ADD COLUMN updated_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE category ADD COLUMN created_by TEXT NOT NULL DEFAULT '';
ALTER TABLE category ADD COLUMN updated_by TEXT NOT NULL DEFAULT '';
ALTER TABLE category ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE dish ADD COLUMN created_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE dish ADD COLUMN updated_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE dish ADD COLUMN created_by TEXT NOT NULL DEFAULT '';
ALTER TABLE dish ADD COLUMN updated_by TEXT NOT NULL DEFAULT '';
ALTER TABLE dish ADD COLUMN version BIGINT NOT NULL DEFAULT 1;

-- A member has one cart.
CREATE TABLE cart (
    id         @identity,
    user_id    BIGINT NOT NULL UNIQUE REFERENCES app_user (id),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    created_by TEXT NOT NULL DEFAULT '',
    updated_by TEXT NOT NULL DEFAULT '',
    version    BIGINT NOT NULL DEFAULT 1
);

CREATE TABLE cart_detail (
    id       @identity,
    cart_id  BIGINT NOT NULL REFERENCES cart (id),
    dish_id  BIGINT NOT NULL REFERENCES dish (id),
    quantity BIGINT NOT NULL CHECK (quantity > 0),
    price    BIGINT NOT NULL CHECK (price >= 0),
    version  BIGINT NOT NULL DEFAULT 1,
    UNIQUE (cart_id, dish_id)
);

ALTER TABLE order_info ADD COLUMN user_id BIGINT;
ALTER TABLE order_info ADD COLUMN receiver_name TEXT;
ALTER TABLE order_info ADD COLUMN receiver_phone TEXT;
ALTER TABLE order_info ADD COLUMN receiver_address TEXT;
ALTER TABLE order_info ADD COLUMN receiver_email TEXT;
ALTER TABLE order_info ADD COLUMN payment_ref @key;
CREATE INDEX order_info_user ON order_info (user_id) WHERE user_id IS NOT NULL;
CREATE UNIQUE INDEX order_info_payment_ref ON order_info (payment_ref) WHERE payment_ref IS NOT NULL;

-- Documents to be projected: one row per transaction and entity, written with the change.
CREATE TABLE document_outbox (
    id            @key PRIMARY KEY,
    entity        TEXT NOT NULL,
    ids           TEXT NOT NULL,                            -- JSON array of document ids
    created_at    BIGINT NOT NULL,
    claimed_until BIGINT NOT NULL DEFAULT 0,
    attempts      INTEGER NOT NULL DEFAULT 0
) /*pg: WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000)*/;

-- Versions of deleted documents, so that a late write of an older one is dropped; kept for a day.
CREATE TABLE document_tombstone (
    entity     @key NOT NULL,
    id         @key NOT NULL,
    version    BIGINT NOT NULL,
    deleted_at BIGINT NOT NULL,
    PRIMARY KEY (entity, id)
);
CREATE INDEX document_tombstone_at ON document_tombstone (deleted_at);

-- Whether the documents in Redis are complete: the epoch that their markers must have, and the progress of a rebuild.
CREATE TABLE document_plane (
    id            INTEGER PRIMARY KEY CHECK (id = 1),
    epoch           TEXT NOT NULL,                          -- empty: nothing in Redis may be used
    server          TEXT NOT NULL DEFAULT '',               -- the Redis servers that it was built on
    building        TEXT NOT NULL DEFAULT '',               -- the epoch of a rebuild that runs, else empty
    building_server TEXT NOT NULL DEFAULT '',
    entity          TEXT NOT NULL DEFAULT '',               -- position of the rebuild
    after_id        TEXT NOT NULL DEFAULT '',
    claimed_until   BIGINT NOT NULL DEFAULT 0
);

-- Indexes by which documents are found in SQL when Redis cannot be used.
CREATE INDEX app_user_province_folded ON app_user (lower(province /*pg: COLLATE "C"*/)) WHERE province IS NOT NULL;
CREATE INDEX app_user_city_folded ON app_user (lower(city /*pg: COLLATE "C"*/)) WHERE city IS NOT NULL;
CREATE INDEX menu_item_dish ON menu_item (dish_id);
CREATE INDEX cart_detail_dish ON cart_detail (dish_id);

-- +goose Down
DROP INDEX cart_detail_dish;
DROP INDEX menu_item_dish;
DROP INDEX app_user_city_folded;
DROP INDEX app_user_province_folded;
DROP TABLE document_plane;
DROP TABLE document_tombstone;
DROP TABLE document_outbox;
DROP INDEX order_info_payment_ref;
DROP INDEX order_info_user;
ALTER TABLE order_info DROP COLUMN payment_ref;
ALTER TABLE order_info DROP COLUMN receiver_email;
ALTER TABLE order_info DROP COLUMN receiver_address;
ALTER TABLE order_info DROP COLUMN receiver_phone;
ALTER TABLE order_info DROP COLUMN receiver_name;
ALTER TABLE order_info DROP COLUMN user_id;
DROP TABLE cart_detail;
DROP TABLE cart;
ALTER TABLE dish DROP COLUMN version;
ALTER TABLE dish DROP COLUMN updated_by;
ALTER TABLE dish DROP COLUMN created_by;
ALTER TABLE dish DROP COLUMN updated_at;
ALTER TABLE dish DROP COLUMN created_at;
ALTER TABLE category DROP COLUMN version;
ALTER TABLE category DROP COLUMN updated_by;
ALTER TABLE category DROP COLUMN created_by;
ALTER TABLE category DROP COLUMN updated_at;
ALTER TABLE category DROP COLUMN created_at;
ALTER TABLE category DROP COLUMN descriptions;
