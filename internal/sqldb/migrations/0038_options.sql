-- Options of dishes: sizes, choices and combos. Groups and options belong to the whole installation, like dishes; their
-- rules and prices belong to a menu version.

-- +goose Up
CREATE TABLE option_group (
    id         @identity,
    kind       TEXT NOT NULL CHECK (kind IN ('SIZE', 'CHOICE', 'COMBO')),
    names      TEXT NOT NULL,                               -- JSON object, locale -> text
    note       TEXT NOT NULL DEFAULT '',                    -- for the staff
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    retired_at BIGINT                                       -- NULL: it can be put on menus
);
CREATE TABLE option_choice (
    id           @identity,
    group_id     BIGINT NOT NULL REFERENCES option_group (id),
    names        TEXT NOT NULL,
    short_name   TEXT NOT NULL DEFAULT '',                  -- for the kitchen; empty: the name
    dish_id      BIGINT REFERENCES dish (id),               -- COMBO: the dish that it stands for
    sort         INTEGER NOT NULL,
    tax_class    TEXT NOT NULL DEFAULT '',                  -- empty: the tax class of the dish
    retired_at   BIGINT
);
CREATE INDEX option_choice_group ON option_choice (group_id);
CREATE INDEX option_choice_dish ON option_choice (dish_id) WHERE dish_id IS NOT NULL;

-- Stock that one unit of an option consumes beside its dish. That of a size replaces the dish's recipe.
CREATE TABLE choice_recipe (
    choice_id BIGINT NOT NULL REFERENCES option_choice (id),
    item_id   BIGINT NOT NULL REFERENCES stock_item (id),
    qty       BIGINT NOT NULL CHECK (qty > 0),
    PRIMARY KEY (choice_id, item_id)
);
CREATE INDEX choice_recipe_item ON choice_recipe (item_id);

CREATE TABLE menu_version_group (
    version_id      BIGINT NOT NULL REFERENCES menu_version (id),
    item_id         BIGINT NOT NULL REFERENCES menu_item (id),
    parent_id       BIGINT NOT NULL,                        -- the option that the group belongs to; 0: the item
    group_id        BIGINT NOT NULL REFERENCES option_group (id),
    sort            INTEGER NOT NULL,
    min_units       BIGINT NOT NULL CHECK (min_units >= 0),
    max_units       BIGINT,                                 -- NULL: no limit
    free_units      BIGINT NOT NULL CHECK (free_units >= 0),
    max_each        BIGINT NOT NULL CHECK (max_each > 0),
    credit          SMALLINT NOT NULL,
    defaults_charge SMALLINT NOT NULL,
    PRIMARY KEY (version_id, item_id, parent_id, group_id)
);
CREATE INDEX menu_version_group_group ON menu_version_group (group_id);
CREATE TABLE menu_version_choice (
    version_id        BIGINT NOT NULL REFERENCES menu_version (id),
    item_id           BIGINT NOT NULL REFERENCES menu_item (id),
    parent_id         BIGINT NOT NULL,
    group_id          BIGINT NOT NULL REFERENCES option_group (id),
    choice_id         BIGINT NOT NULL REFERENCES option_choice (id),
    sort              INTEGER NOT NULL,
    price             BIGINT NOT NULL CHECK (price >= 0),
    is_default        SMALLINT NOT NULL,
    is_active         SMALLINT NOT NULL,
    component_item_id BIGINT REFERENCES menu_item (id),     -- COMBO: the menu's item of the dish, whose units it takes
    PRIMARY KEY (version_id, item_id, parent_id, group_id, choice_id)
);
CREATE INDEX menu_version_choice_choice ON menu_version_choice (choice_id);
CREATE INDEX menu_version_choice_component ON menu_version_choice (component_item_id) WHERE component_item_id IS NOT NULL;

-- An option that is off in a branch. The row is deleted when the option is back.
CREATE TABLE choice_off (
    branch_id BIGINT NOT NULL REFERENCES branch (id),
    choice_id BIGINT NOT NULL REFERENCES option_choice (id),
    off_at    BIGINT NOT NULL,
    off_until BIGINT,                                       -- NULL: until staff restore it
    off_by    TEXT NOT NULL,
    PRIMARY KEY (branch_id, choice_id)
);
CREATE INDEX choice_off_until ON choice_off (off_until) WHERE off_until IS NOT NULL;

-- JSON, see catalog.OptionLine; empty: none. An order writes no further rows for options.
ALTER TABLE order_item ADD COLUMN options TEXT NOT NULL DEFAULT '';
-- JSON in canonical form, see catalog.EncodeOptions; empty: none.
ALTER TABLE visit_cart_line ADD COLUMN options TEXT NOT NULL DEFAULT '';
-- A cart has a line for each dish and choice of options. SQLite cannot drop the key, so the table is written again; its
-- sequence continues, because documents of deleted lines remain as tombstones.
/*pg: ALTER TABLE cart_detail ADD COLUMN options @key NOT NULL DEFAULT '';*/
/*pg: ALTER TABLE cart_detail DROP CONSTRAINT cart_detail_cart_id_dish_id_key;*/
/*pg: ALTER TABLE cart_detail ADD UNIQUE (cart_id, dish_id, options);*/
/*sqlite: CREATE TABLE cart_detail_options (
    id       @identity,
    cart_id  BIGINT NOT NULL REFERENCES cart (id),
    dish_id  BIGINT NOT NULL REFERENCES dish (id),
    options  @key NOT NULL DEFAULT '',
    quantity BIGINT NOT NULL CHECK (quantity > 0),
    price    BIGINT NOT NULL CHECK (price >= 0),
    version  BIGINT NOT NULL DEFAULT 1,
    UNIQUE (cart_id, dish_id, options)
);*/
/*sqlite: INSERT INTO sqlite_sequence (name, seq) SELECT 'cart_detail_options', seq FROM sqlite_sequence WHERE name = 'cart_detail';*/
/*sqlite: INSERT INTO cart_detail_options (id, cart_id, dish_id, quantity, price, version)
SELECT id, cart_id, dish_id, quantity, price, version FROM cart_detail;*/
/*sqlite: DROP TABLE cart_detail;*/
/*sqlite: ALTER TABLE cart_detail_options RENAME TO cart_detail;*/
/*sqlite: CREATE INDEX cart_detail_dish ON cart_detail (dish_id);*/
INSERT INTO schema_floor (version, oldest) VALUES (38, 38);

-- +goose Down
-- The previous release has one line for each dish: the oldest line stays.
DELETE FROM cart_detail WHERE id NOT IN (SELECT min(d.id) FROM cart_detail d GROUP BY d.cart_id, d.dish_id);
/*pg: ALTER TABLE cart_detail DROP COLUMN options;*/
/*pg: ALTER TABLE cart_detail ADD UNIQUE (cart_id, dish_id);*/
/*sqlite: CREATE TABLE cart_detail_dishes (
    id       @identity,
    cart_id  BIGINT NOT NULL REFERENCES cart (id),
    dish_id  BIGINT NOT NULL REFERENCES dish (id),
    quantity BIGINT NOT NULL CHECK (quantity > 0),
    price    BIGINT NOT NULL CHECK (price >= 0),
    version  BIGINT NOT NULL DEFAULT 1,
    UNIQUE (cart_id, dish_id)
);*/
/*sqlite: INSERT INTO sqlite_sequence (name, seq) SELECT 'cart_detail_dishes', seq FROM sqlite_sequence WHERE name = 'cart_detail';*/
/*sqlite: INSERT INTO cart_detail_dishes (id, cart_id, dish_id, quantity, price, version)
SELECT id, cart_id, dish_id, quantity, price, version FROM cart_detail;*/
/*sqlite: DROP TABLE cart_detail;*/
/*sqlite: ALTER TABLE cart_detail_dishes RENAME TO cart_detail;*/
/*sqlite: CREATE INDEX cart_detail_dish ON cart_detail (dish_id);*/
ALTER TABLE visit_cart_line DROP COLUMN options;
ALTER TABLE order_item DROP COLUMN options;
DROP TABLE choice_off;
DROP TABLE menu_version_choice;
DROP TABLE menu_version_group;
DROP TABLE choice_recipe;
DROP TABLE option_choice;
DROP TABLE option_group;
DELETE FROM schema_floor WHERE version = 38;
