-- The guests of a table may fill one cart together, where their branch wants it.

-- +goose Up
ALTER TABLE branch ADD COLUMN shared_cart SMALLINT NOT NULL DEFAULT 0;
-- The row that changes to the cart of one visit lock, and the number that they raise.
CREATE TABLE visit_cart (
    visit_id @key PRIMARY KEY,
    version  BIGINT NOT NULL,
    added    BIGINT NOT NULL             -- lines that were ever added
);
-- A line that was removed or ordered stays with quantity 0 until the visit is over, so that a late repetition of the
-- request that put it there does not bring it back.
CREATE TABLE visit_cart_line (
    visit_id   @key NOT NULL,
    id         @key NOT NULL,            -- chosen by the phone
    guest_hash @key NOT NULL,            -- of the phone that put it there
    item_id    BIGINT NOT NULL,
    dish_id    BIGINT NOT NULL,
    quantity   BIGINT NOT NULL,          -- 0: removed or ordered
    notes      TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (visit_id, id)
);
INSERT INTO schema_floor (version, oldest) VALUES (33, 20);

-- +goose Down
DROP TABLE visit_cart_line;
DROP TABLE visit_cart;
ALTER TABLE branch DROP COLUMN shared_cart;
DELETE FROM schema_floor WHERE version = 33;
