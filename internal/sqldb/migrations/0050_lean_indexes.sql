-- Indexes that an order's rows do not need (decision 81).

-- +goose Up
-- The first hold of an order has the order's id and is found by the primary key. Orders that took their units a second
-- time, after a late payment, are found by this index.
DROP INDEX order_info_hold;
CREATE INDEX order_info_hold ON order_info (hold_id) WHERE hold_id <> id;
-- The rebuild of a scope reads all holds of a business date. PostgreSQL stores equal keys of an index once.
DROP INDEX hold_scope;
CREATE INDEX hold_scope ON hold (branch_id, biz_date);
-- Reservations, which have no business date, have hold_reservation_due.
DROP INDEX hold_due;
CREATE INDEX hold_due ON hold (expires_at) WHERE biz_date <> '' AND state = 'HELD';
INSERT INTO schema_floor (version, oldest) VALUES (50, 40);

-- +goose Down
DROP INDEX hold_due;
CREATE INDEX hold_due ON hold (expires_at) WHERE state = 'HELD';
DROP INDEX hold_scope;
CREATE INDEX hold_scope ON hold (branch_id, biz_date, state, id);
DROP INDEX order_info_hold;
CREATE INDEX order_info_hold ON order_info (hold_id);
DELETE FROM schema_floor WHERE version = 50;
