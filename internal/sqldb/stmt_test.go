package sqldb

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/testenv"
)

func TestCompile(t *testing.T) {
	for _, c := range []struct {
		name, text, postgres, sqlite string
	}{
		{"plain", "SELECT a FROM t WHERE b = $1 AND c = $2", "SELECT a FROM t WHERE b = $1 AND c = $2", "SELECT a FROM t WHERE b = ?1 AND c = ?2"},
		{"reused", "SELECT $1, $1", "SELECT $1, $1", "SELECT ?1, ?1"},
		{
			"rows and a value after them", "SELECT r.id FROM @rows($1: id text, qty int) AS r WHERE r.qty > $2",
			"SELECT r.id FROM (SELECT * FROM unnest($1::text[], $2::bigint[]) AS u(id, qty)) AS r WHERE r.qty > $3",
			"SELECT r.id FROM (SELECT c0 AS id, c1 AS qty FROM row_set(?1)) AS r WHERE r.qty > ?2",
		},
		{
			"a value before rows", "SELECT $1 FROM @rows($2: a int) AS r", "SELECT $1 FROM (SELECT * FROM unnest($2::bigint[]) AS u(a)) AS r",
			"SELECT ?1 FROM (SELECT c0 AS a FROM row_set(?2)) AS r",
		},
		{"one engine's fragment", "SELECT a FROM t /*pg:FOR UPDATE*//*sqlite:LIMIT 1*/", "SELECT a FROM t FOR UPDATE/*sqlite:LIMIT 1*/", "SELECT a FROM t /*pg:FOR UPDATE*/LIMIT 1"},
		{"line comments go", "-- why\nSELECT 1", "SELECT 1", "SELECT 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := testenv.Must(compile(c.name, c.text, nil))(t)
			testenv.Equal(t, c.postgres, s.Text(Postgres))
			testenv.Equal(t, c.sqlite, s.Text(SQLite))
		})
	}
}

func TestLoad_sections(t *testing.T) {
	s := Load(fstest.MapFS{
		"order.sql": {Data: []byte(`-- Orders.

-- fragment: order_columns
-- In the order in which they are read.
id, @amounts

-- name: order_select
-- By id.
SELECT (@order_columns) FROM order_info WHERE id = $1

-- name: order_delete
DELETE FROM order_info WHERE id IN (SELECT r.id FROM @rows($1: id int) AS r)
`)},
		"money.sql": {Data: []byte("-- fragment: amounts\ntotal,\ncurrency\n")},
		"alone.sql": {Data: []byte("SELECT 1")},
	})
	for name, want := range map[string]string{
		"order_select": "SELECT (id, total,\ncurrency) FROM order_info WHERE id = $1",
		"order_delete": "DELETE FROM order_info WHERE id IN (SELECT r.id FROM (SELECT * FROM unnest($1::bigint[]) AS u(id)) AS r)",
		"alone":        "SELECT 1",
	} {
		if diff := cmp.Diff(want, s.Must(name).Text(Postgres)); diff != "" {
			t.Errorf("text of %s (-want +got):\n%s", name, diff)
		}
	}
	testenv.Equal(t, 3, len(s.byName))
}

// One text is used for several tables: each has statements under its own prefix, with its own fragments.
func TestLoadTemplate(t *testing.T) {
	const text = "-- name: delete\nDELETE FROM @table WHERE @table.id = $1 AND @due <= $2\n"
	for table, want := range map[string]string{
		"mail_outbox":  "DELETE FROM mail_outbox WHERE mail_outbox.id = ?1 AND available_at <= ?2",
		"redis_outbox": "DELETE FROM redis_outbox WHERE redis_outbox.id = ?1 AND available_at <= ?2",
	} {
		s := LoadTemplate(table, text, map[string]string{"table": table, "due": "available_at"}).Must(table + "_delete")
		if got := s.Text(SQLite); got != want || s.Name != table+"_delete" {
			t.Errorf("statement %s = %s, want %s_delete = %s", s.Name, got, table, want)
		}
	}
}

func TestLoad_refuses(t *testing.T) {
	for name, text := range map[string]string{
		"an unknown column type": "SELECT 1 FROM @rows($1: id uuid)",
		"an unknown fragment":    "SELECT @absent FROM t",
		"two of one name":        "-- name: a\nSELECT 1\n-- name: a\nSELECT 2\n",
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("loaded")
				}
			}()
			Load(fstest.MapFS{"bad.sql": {Data: []byte(text)}})
		})
	}
}

func TestBind_checksArguments(t *testing.T) {
	s := testenv.Must(compile("s", "SELECT $1 FROM @rows($2: id text, n int) AS r", nil))(t)
	text := func(int) string { return "" }
	number := func(int) int64 { return 0 }
	for name, args := range map[string][]any{
		"too few":        {1},
		"no rows":        {1, 2},
		"missing column": {1, NewRowSet(1).Text("id", text)},
		"other name":     {1, NewRowSet(1).Text("no", text).Int("n", number)},
		"other type":     {1, NewRowSet(1).Text("id", text).Text("n", text)},
	} {
		if _, err := s.bind(args); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if _, _, err := s.bindLite(args); err == nil {
			t.Errorf("%s: accepted for SQLite", name)
		}
	}
	testenv.Must(s.bind([]any{1, NewRowSet(1).Text("id", text).Int("n", number)}))(t)
}

// Only statements that begin with INSERT or UPDATE get OR FAIL.
func TestOrFail(t *testing.T) {
	for text, want := range map[string]string{
		"INSERT INTO t (a) VALUES (1)":                               "INSERT OR FAIL INTO t (a) VALUES (1)",
		"UPDATE t SET a = 1":                                         "UPDATE OR FAIL t SET a = 1",
		"DELETE FROM t":                                              "DELETE FROM t",
		"WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x":         "WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x",
		"INSERT INTO t (a) VALUES (1) ON CONFLICT (a) DO NOTHING":    "INSERT OR FAIL INTO t (a) VALUES (1) ON CONFLICT (a) DO NOTHING",
		"SELECT a FROM t WHERE b = 'INSERT INTO' OR b = 'UPDATE me'": "SELECT a FROM t WHERE b = 'INSERT INTO' OR b = 'UPDATE me'",
	} {
		testenv.Equal(t, want, orFail(text))
	}
}
