-- Branches have taxes, service charges and discounts, and an order stores how its total was computed.

-- +goose Up
ALTER TABLE branch ADD COLUMN pricing TEXT NOT NULL DEFAULT ''; -- JSON, see catalog.Pricing; empty: orders are the sum of their lines
-- Kinds of goods that laws tax differently. The classes belong to the whole installation, like dishes.
CREATE TABLE tax_class (
    code  @key PRIMARY KEY,
    names TEXT NOT NULL,                                        -- JSON object, locale -> text
    sort  INTEGER NOT NULL
);
INSERT INTO tax_class (code, names, sort) VALUES
    ('FOOD', '{"en":"Food","vi":"Món ăn","zh-TW":"餐點","ja":"料理","th":"อาหาร"}', 1),
    ('SOFT_DRINK', '{"en":"Soft drinks","vi":"Đồ uống không cồn","zh-TW":"無酒精飲料","ja":"ソフトドリンク","th":"เครื่องดื่มไม่มีแอลกอฮอล์"}', 2),
    ('ALCOHOL', '{"en":"Alcohol","vi":"Đồ uống có cồn","zh-TW":"酒類","ja":"アルコール","th":"เครื่องดื่มแอลกอฮอล์"}', 3),
    ('PACKAGING', '{"en":"Packaging","vi":"Bao bì","zh-TW":"包裝","ja":"容器","th":"บรรจุภัณฑ์"}', 4);
ALTER TABLE dish ADD COLUMN tax_class TEXT NOT NULL DEFAULT ''; -- empty: not stated
-- NULL in these columns means that the total is the sum of the lines, so that such an order stores nothing.
ALTER TABLE order_info ADD COLUMN quote TEXT;             -- JSON, see price.QuoteRecord
ALTER TABLE order_info ADD COLUMN discount_amount BIGINT;
ALTER TABLE order_info ADD COLUMN service_amount BIGINT;
ALTER TABLE order_info ADD COLUMN tax_amount BIGINT;
INSERT INTO schema_floor (version, oldest) VALUES (37, 36);

-- +goose Down
ALTER TABLE order_info DROP COLUMN tax_amount;
ALTER TABLE order_info DROP COLUMN service_amount;
ALTER TABLE order_info DROP COLUMN discount_amount;
ALTER TABLE order_info DROP COLUMN quote;
ALTER TABLE dish DROP COLUMN tax_class;
DROP TABLE tax_class;
ALTER TABLE branch DROP COLUMN pricing;
DELETE FROM schema_floor WHERE version = 37;
