-- A request for a refund that is repeated under its key has one effect, and returns the current state of the refund.

-- +goose Up
ALTER TABLE refund ADD COLUMN client_txn_id @key; -- NULL: sent without a key
CREATE UNIQUE INDEX refund_txn ON refund (order_id, client_txn_id) WHERE client_txn_id IS NOT NULL;

-- +goose Down
DROP INDEX refund_txn;
ALTER TABLE refund DROP COLUMN client_txn_id;
