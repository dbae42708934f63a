-- The staff find orders by table, by the receiver's phone and by words of the receiver's name.

-- +goose Up
-- The name's words are entered after the order, and out of its transaction: see orderingsql.EnterNames.
ALTER TABLE order_info ADD COLUMN named_at BIGINT;                -- when they were; NULL: not yet
CREATE INDEX order_info_unnamed ON order_info (id) WHERE receiver_name IS NOT NULL AND named_at IS NULL;

CREATE TABLE order_word (
    branch_id BIGINT NOT NULL,
    word      @key NOT NULL,                                -- lower case, without accents
    biz_date  @key NOT NULL,
    order_id  @key NOT NULL,
    PRIMARY KEY (branch_id, word, biz_date, order_id)
);

-- The last four digits narrow a branch's orders to few, whether or not a country code stands in front.
CREATE INDEX order_info_phone ON order_info (branch_id, substr(receiver_phone, length(receiver_phone) - 3))
    WHERE receiver_phone IS NOT NULL;
CREATE INDEX visit_table ON visit (table_id);
INSERT INTO schema_floor (version, oldest) VALUES (26, 20);

-- +goose Down
DROP INDEX visit_table;
DROP INDEX order_info_phone;
DROP TABLE order_word;
DROP INDEX order_info_unnamed;
ALTER TABLE order_info DROP COLUMN named_at;
DELETE FROM schema_floor WHERE version = 26;
