package settingssql_test

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/settings"
	"comanda/internal/settings/settingssql"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

func write(name, value string) func([]settings.Row) ([]settings.Row, []string, error) {
	return func([]settings.Row) ([]settings.Row, []string, error) {
		return []settings.Row{{Name: name, Value: value, By: "user:1"}}, nil, nil
	}
}

func TestStore(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, by, now := settingssql.New(db), authz.System(), time.UnixMilli(1_700_000_000_000).UTC()
		if rows, err := s.Rows(t.Context()); err != nil || len(rows) != 0 {
			t.Fatalf("a new database has %v, %v", rows, err)
		}
		for _, value := range []string{"20m", "25m"} {
			testenv.NoError(t, s.Change(t.Context(), by, now, write("payment_window", value)))
		}
		rows, err := s.Rows(t.Context())
		want := settings.Row{Name: "payment_window", Value: "25m", At: now, By: "user:1"}
		if err != nil || len(rows) != 1 || rows[0] != want {
			t.Fatalf("stored %v, %v", rows, err)
		}
		refused := errors.New("refused")
		err = s.Change(t.Context(), by, now, func([]settings.Row) ([]settings.Row, []string, error) {
			return []settings.Row{{Name: "ticket_warn", Value: "1m"}}, []string{"payment_window"}, refused
		})
		if again, _ := s.Rows(t.Context()); !errors.Is(err, refused) || len(again) != 1 || again[0] != want {
			t.Errorf("a refused change stored %v, %v", again, err)
		}
		testenv.NoError(t, s.Change(t.Context(), by, now, func([]settings.Row) ([]settings.Row, []string, error) {
			return nil, []string{"payment_window"}, nil
		}))
		if rows, err := s.Rows(t.Context()); err != nil || len(rows) != 0 {
			t.Errorf("after the removal: %v, %v", rows, err)
		}
		report, err := auditsql.Verify(t.Context(), db)
		if err != nil || report.Entries != 3 {
			t.Errorf("Verify = %+v, %v, want three entries", report, err)
		}
	})
}

// Each change reads what the one before it has stored, even while the setting has no row yet.
func TestStore_Change_at_once(t *testing.T) {
	const n = 8
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := settingssql.New(db)
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() {
				err := s.Change(t.Context(), authz.System(), db.Now(), func(rows []settings.Row) ([]settings.Row, []string, error) {
					count := 0
					if len(rows) > 0 {
						count, _ = strconv.Atoi(rows[0].Value)
					}
					return []settings.Row{{Name: "count", Value: fmt.Sprint(count + 1)}}, nil, nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if rows, err := s.Rows(t.Context()); err != nil || len(rows) != 1 || rows[0].Value != strconv.Itoa(n) {
			t.Errorf("%d changes made %v, %v", n, rows, err)
		}
	})
}
