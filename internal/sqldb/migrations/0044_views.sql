-- What guests and members look at, add to a cart and open: counters that processes write every few seconds.

-- +goose Up
CREATE TABLE dish_view (
    branch_id BIGINT NOT NULL,
    biz_date  @key NOT NULL,
    dish_id   BIGINT NOT NULL,
    viewed    BIGINT NOT NULL,
    added     BIGINT NOT NULL,                -- to a cart
    PRIMARY KEY (branch_id, biz_date, dish_id)
);
CREATE TABLE page_view (
    branch_id BIGINT NOT NULL,
    biz_date  @key NOT NULL,
    page      @key NOT NULL,                  -- see analytics.Page
    opened    BIGINT NOT NULL,
    PRIMARY KEY (branch_id, biz_date, page)
);
-- The visits in which a dish was added to a cart. Without an order they are abandoned carts.
CREATE TABLE cart_start (
    visit_id  @key PRIMARY KEY,
    branch_id BIGINT NOT NULL,
    biz_date  @key NOT NULL
);
CREATE INDEX cart_start_day ON cart_start (branch_id, biz_date);
-- The dishes whose details members have opened.
CREATE TABLE member_view (
    user_id   BIGINT NOT NULL,
    dish_id   BIGINT NOT NULL,
    viewed    BIGINT NOT NULL,
    viewed_at BIGINT NOT NULL,                -- newest
    PRIMARY KEY (user_id, dish_id)
);
CREATE INDEX member_view_age ON member_view (viewed_at);
-- A member's history begins after this instant. Views that arrive late, from before, are not stored.
CREATE TABLE member_history (
    user_id    BIGINT PRIMARY KEY,
    cleared_at BIGINT NOT NULL
);
-- The batches of counters that were added, so that a batch that two processes have taken counts once.
CREATE TABLE view_batch (
    id       @key PRIMARY KEY,
    added_at BIGINT NOT NULL
);
CREATE INDEX view_batch_age ON view_batch (added_at);
INSERT INTO schema_floor (version, oldest) VALUES (44, 40);

-- +goose Down
DROP TABLE view_batch;
DROP TABLE member_history;
DROP TABLE member_view;
DROP TABLE cart_start;
DROP TABLE page_view;
DROP TABLE dish_view;
DELETE FROM schema_floor WHERE version = 44;
