-- Guests may extend the time to pay, a few times.

-- +goose Up
ALTER TABLE order_info ADD COLUMN prolonged INTEGER NOT NULL DEFAULT 0; -- how often pay_by has moved

-- +goose Down
ALTER TABLE order_info DROP COLUMN prolonged;
