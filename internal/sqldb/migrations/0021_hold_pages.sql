-- The gate is rebuilt from pages of the holds of a scope that have one state.

-- +goose Up
DROP INDEX hold_scope;
CREATE INDEX hold_scope ON hold (branch_id, biz_date, state, id);

-- +goose Down
DROP INDEX hold_scope;
CREATE INDEX hold_scope ON hold (branch_id, biz_date);
