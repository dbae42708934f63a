-- One index for a member's orders and idempotency keys, in place of two with the same condition. While a table has no
-- statistics, PostgreSQL estimates the same cost for both, and read all members' orders for one key.

-- +goose Up
CREATE UNIQUE INDEX order_info_member ON order_info (user_id, client_txn_id) WHERE user_id IS NOT NULL;
DROP INDEX order_info_member_txn;
DROP INDEX order_info_user;
INSERT INTO schema_floor (version, oldest) VALUES (51, 40);

-- +goose Down
CREATE INDEX order_info_user ON order_info (user_id) WHERE user_id IS NOT NULL;
CREATE UNIQUE INDEX order_info_member_txn ON order_info (client_txn_id) WHERE user_id IS NOT NULL;
DROP INDEX order_info_member;
DELETE FROM schema_floor WHERE version = 51;
