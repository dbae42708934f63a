-- Carts come and go by the thousand. Their lines go before them, under the cart's lock and in one transaction, so the
-- look for lines that were forgotten finds none and costs as much as the rest of the deletion; and what is left of rows
-- that are gone is tidied away sooner than tables of this size would be by themselves.

-- +goose Up
/*pg: ALTER TABLE cart_detail DROP CONSTRAINT cart_detail_cart_id_fkey; */
/*pg: ALTER TABLE cart SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000); */
/*pg: ALTER TABLE cart_detail SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000); */
/*pg: ALTER TABLE document_outbox SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000); */
SELECT 1;

-- +goose Down
/*pg: ALTER TABLE document_outbox RESET (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold); */
/*pg: ALTER TABLE cart_detail RESET (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold); */
/*pg: ALTER TABLE cart RESET (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold); */
/*pg: ALTER TABLE cart_detail ADD CONSTRAINT cart_detail_cart_id_fkey FOREIGN KEY (cart_id) REFERENCES cart (id); */
SELECT 1;
