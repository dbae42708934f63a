-- Counters state whether their cap is that of an item that staff took off sale, so that reports tell it from a quota of 0 on past
-- dates, too.

-- +goose Up
ALTER TABLE sales_quota_counter ADD COLUMN off INTEGER; -- 1 while the item is off sale, else 0; NULL if its cap was set before this release
INSERT INTO schema_floor (version, oldest) VALUES (59, 54);

-- +goose Down
ALTER TABLE sales_quota_counter DROP COLUMN off;
DELETE FROM schema_floor WHERE version = 59;
