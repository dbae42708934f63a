-- Changes of the catalogue in the console: paused branches, items that are off, retired dishes, pictures.

-- +goose Up
ALTER TABLE branch ADD COLUMN paused_at BIGINT;                   -- NULL: it takes orders
ALTER TABLE branch ADD COLUMN paused_until BIGINT;                -- NULL: until staff resume
ALTER TABLE branch ADD COLUMN pause_code TEXT NOT NULL DEFAULT '';
ALTER TABLE branch ADD COLUMN pause_texts TEXT NOT NULL DEFAULT '{}';
ALTER TABLE branch ADD COLUMN paused_by TEXT NOT NULL DEFAULT '';

-- An item that is off has the cap 0 on every business date that begins before it is back.
ALTER TABLE menu_item ADD COLUMN off_at BIGINT;                   -- NULL: it is on sale
ALTER TABLE menu_item ADD COLUMN off_until BIGINT;                -- NULL: until staff restore it
ALTER TABLE menu_item ADD COLUMN off_through @key;                -- the last business date whose counter begins with 0
ALTER TABLE menu_item ADD COLUMN off_by TEXT NOT NULL DEFAULT '';
CREATE INDEX menu_item_off ON menu_item (off_until) WHERE off_until IS NOT NULL;

ALTER TABLE dish ADD COLUMN retired_at BIGINT;                    -- NULL: it can be put on menus
CREATE INDEX dish_category ON dish (category_id);

-- Pictures in each of their sizes, by the hash of the served bytes.
CREATE TABLE image (
    hash       @key NOT NULL,
    width      INTEGER NOT NULL,
    bytes      /*pg: BYTEA*//*sqlite: BLOB*/ NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (hash, width)
);
CREATE INDEX image_created ON image (created_at);

-- +goose Down
DROP TABLE image;
DROP INDEX dish_category;
ALTER TABLE dish DROP COLUMN retired_at;
DROP INDEX menu_item_off;
ALTER TABLE menu_item DROP COLUMN off_by;
ALTER TABLE menu_item DROP COLUMN off_through;
ALTER TABLE menu_item DROP COLUMN off_until;
ALTER TABLE menu_item DROP COLUMN off_at;
ALTER TABLE branch DROP COLUMN paused_by;
ALTER TABLE branch DROP COLUMN pause_texts;
ALTER TABLE branch DROP COLUMN pause_code;
ALTER TABLE branch DROP COLUMN paused_until;
ALTER TABLE branch DROP COLUMN paused_at;
