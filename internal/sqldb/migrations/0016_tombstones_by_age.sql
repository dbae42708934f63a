-- Tombstones are written with every checkout and looked for by age once in a while: an index that costs next to nothing to
-- keep is enough to find the old ones.

-- +goose Up
DROP INDEX document_tombstone_at;
CREATE INDEX document_tombstone_at ON document_tombstone /*pg: USING brin */ (deleted_at);

-- +goose Down
DROP INDEX document_tombstone_at;
CREATE INDEX document_tombstone_at ON document_tombstone (deleted_at);
