-- Adds the shared cart of a visit. Each branch can enable it.

-- +goose Up
ALTER TABLE branch ADD COLUMN shared_cart SMALLINT NOT NULL DEFAULT 0;
-- Changes to the cart of a visit lock its row here and raise version.
CREATE TABLE visit_cart (
    visit_id @key PRIMARY KEY,
    version  BIGINT NOT NULL,
    added    BIGINT NOT NULL             -- lines added so far, including removed ones
);
-- A removed or ordered line stays with quantity 0 until the visit ends, so that a late repetition of the request that
-- added it does not restore it.
CREATE TABLE visit_cart_line (
    visit_id   @key NOT NULL,
    id         @key NOT NULL,            -- chosen by the phone
    guest_hash @key NOT NULL,            -- of the phone that added the line
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
