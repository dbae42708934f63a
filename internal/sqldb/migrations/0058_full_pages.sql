-- PostgreSQL fills the pages of orders and holds (decision 91). SQLite changes nothing.

-- +goose Up
-- Applies to new pages, so the statements read and write no rows. Room for newer versions of a row was of little use: three of four
-- updates of an order and all of a hold change an indexed column, and vacuum makes room on the pages of the same day.
/*pg: ALTER TABLE order_info RESET (fillfactor);*/
/*pg: ALTER TABLE hold RESET (fillfactor);*/
INSERT INTO schema_floor (version, oldest) VALUES (58, 54);

-- +goose Down
/*pg: ALTER TABLE hold SET (fillfactor = 80);*/
/*pg: ALTER TABLE order_info SET (fillfactor = 70);*/
DELETE FROM schema_floor WHERE version = 58;
