-- The kitchen: the steps of orders with actor and time, lines that are done, and what screens show.

-- +goose Up
ALTER TABLE order_info ADD COLUMN stepped_at BIGINT;              -- the last step in the kitchen; NULL: none yet
ALTER TABLE order_info ADD COLUMN void_seen SMALLINT NOT NULL DEFAULT 0; -- the kitchen has seen that the order was refunded
ALTER TABLE order_item ADD COLUMN done_at BIGINT;                 -- when the kitchen ticked the line off

-- One row per step, under the version that the order has reached with it. Never changed: a recall is a row of its own.
CREATE TABLE order_step (
    order_id    @key NOT NULL,
    version     BIGINT NOT NULL,
    at          BIGINT NOT NULL,
    from_status TEXT NOT NULL,
    to_status   TEXT NOT NULL,
    actor       @key NOT NULL,
    PRIMARY KEY (order_id, version)
);

-- Recently finished orders. Open ones are found by business date: another index would cost every new order.
CREATE INDEX order_info_stepped ON order_info (branch_id, stepped_at) WHERE stepped_at IS NOT NULL;

-- +goose Down
DROP INDEX order_info_stepped;
DROP TABLE order_step;
ALTER TABLE order_item DROP COLUMN done_at;
ALTER TABLE order_info DROP COLUMN void_seen;
ALTER TABLE order_info DROP COLUMN stepped_at;
