-- Carts of members: which branch's menu they are priced by.

-- +goose Up
ALTER TABLE cart ADD COLUMN branch_id BIGINT;                    -- NULL: the house's first that is open

-- +goose Down
ALTER TABLE cart DROP COLUMN branch_id;
