// Package settingssql stores the settings of the restaurant in SQL.
package settingssql

import (
	"context"
	"embed"
	"slices"
	"time"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/settings"
	"comanda/internal/sqldb"
)

//go:embed *.sql
var files embed.FS

var stmts = sqldb.Load(files)

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = stmts.Must

// Store is settings.Store on a database.
type Store struct{ db *sqldb.DB }

// New returns a store on a database.
func New(db *sqldb.DB) *Store { return &Store{db} }

var scanRow = sqldb.Row(func(row *settings.Row) []any {
	return []any{&row.Name, &row.Value, sqldb.Bool(&row.Encrypted), sqldb.Time(&row.At), &row.By}
})

// Rows implements settings.Store.
func (s *Store) Rows(ctx context.Context) ([]settings.Row, error) {
	return sqldb.Collect(ctx, s.db, scanRow, stmt("setting_list"))
}

// Change implements settings.Store. It locks the first row, which has no name, for all settings: a setting that is not
// stored yet has no row of its own to lock.
func (s *Store) Change(
	ctx context.Context, by authz.Actor, now time.Time,
	decide func([]settings.Row) (write []settings.Row, remove []string, err error),
) error {
	return s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if _, err := sqldb.Scalar[string](ctx, tx, stmt("setting_lock")); err != nil {
			return err
		}
		rows, err := sqldb.Collect(ctx, tx, scanRow, stmt("setting_list"))
		if err != nil {
			return err
		}
		write, remove, err := decide(rows)
		if err != nil {
			return err
		}
		names := slices.Clone(remove)
		for _, r := range write {
			names = append(names, r.Name)
			tx.Queue(stmt("setting_upsert"), r.Name, r.Value, sqldb.Flag(r.Encrypted), now.UnixMilli(), r.By)
		}
		for _, name := range remove {
			tx.Queue(stmt("setting_delete"), name)
		}
		slices.Sort(names)
		// The entry has no values, because some are secret and the log is exported.
		return auditsql.Record(ctx, tx, audit.NewEntry(by, now, audit.ActionSettingsChanged, "settings", "house", 0).
			WithAfter(map[string]any{"changed": names, "removed": remove}))
	})
}

// RecordTest implements settings.Store.
func (s *Store) RecordTest(
	ctx context.Context, by authz.Actor, now time.Time, subject settings.TestSubject, code settings.TestCode,
) error {
	return auditsql.RecordAlone(ctx, s.db, audit.NewEntry(by, now, audit.ActionSettingsTested, "settings", "house", 0).
		WithAfter(map[string]any{"subject": subject, "result": code}))
}
