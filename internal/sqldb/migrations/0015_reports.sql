-- Lists and reports look for the orders of a branch by their business dates and numbers. None of the three columns ever
-- changes, so that moving an order on costs this index nothing.

-- +goose Up
CREATE INDEX order_info_day ON order_info (branch_id, biz_date, number);

-- +goose Down
DROP INDEX order_info_day;
