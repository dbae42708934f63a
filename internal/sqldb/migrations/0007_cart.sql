-- The branch whose menu prices a member's cart.

-- +goose Up
ALTER TABLE cart ADD COLUMN branch_id BIGINT;                    -- NULL: the first open branch of the restaurant

-- +goose Down
ALTER TABLE cart DROP COLUMN branch_id;
