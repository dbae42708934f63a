-- SQLite inserts orders and holds faster (decision 88). PostgreSQL changes nothing.

-- +goose Up
-- For each statement SQLite writes the list of an IN of three and more values into a table of its own.
-- The text of a CHECK is changed as https://www.sqlite.org/lang_altertable.html#otheralter describes: no row changes.
/*sqlite: PRAGMA writable_schema = ON;*/
/*sqlite: UPDATE sqlite_schema
SET sql = replace(sql, 'kind IN (''DINE_IN'', ''DELIVERY'', ''PICKUP'')', 'kind = ''DINE_IN'' OR kind = ''DELIVERY'' OR kind = ''PICKUP''')
WHERE type = 'table' AND name = 'order_info';*/
/*sqlite: UPDATE sqlite_schema
SET sql = replace(sql, 'state IN (''HELD'', ''CONFIRMED'', ''RELEASED'', ''RETURNED'')',
                  'state = ''HELD'' OR state = ''CONFIRMED'' OR state = ''RELEASED'' OR state = ''RETURNED''')
WHERE type = 'table' AND name = 'hold';*/
-- A function in an index could fail after some rows are inserted. SQLite therefore copies each page that an insert changes.
-- Creating the index also makes other connections read the schema again.
/*sqlite: DROP INDEX order_info_phone;*/
/*sqlite: CREATE INDEX order_info_phone ON order_info (branch_id, receiver_phone) WHERE receiver_phone IS NOT NULL;*/
/*sqlite: PRAGMA writable_schema = RESET;*/
INSERT INTO schema_floor (version, oldest) VALUES (55, 54);

-- +goose Down
/*sqlite: DROP INDEX order_info_phone;*/
/*sqlite: CREATE INDEX order_info_phone ON order_info (branch_id, substr(receiver_phone, length(receiver_phone) - 3))
    WHERE receiver_phone IS NOT NULL;*/
DELETE FROM schema_floor WHERE version = 55;
