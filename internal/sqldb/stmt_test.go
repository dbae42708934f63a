package sqldb

import (
	"strings"
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
			"SELECT r.id FROM (SELECT value ->> 0 AS id, value ->> 1 AS qty FROM json_each(?1)) AS r WHERE r.qty > ?2",
		},
		{
			"a value before rows", "SELECT $1 FROM @rows($2: a int) AS r", "SELECT $1 FROM (SELECT * FROM unnest($2::bigint[]) AS u(a)) AS r",
			"SELECT ?1 FROM (SELECT value AS a FROM json_each(?2)) AS r",
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
	if len(s.byName) != 3 {
		t.Errorf("%d statements, want 3", len(s.byName))
	}
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

func TestRowSet_json(t *testing.T) {
	rows := NewRowSet(2).
		Text("a", func(i int) string { return []string{`plain`, "q\"\\\n phở 😀"}[i] }).
		Int("b", func(i int) int64 { return []int64{-1, 1 << 53}[i] }).
		NullText("c", func(i int) (string, bool) { return "x", i == 0 }).
		NullInt("d", func(i int) (int64, bool) { return 7, i == 1 })
	want := `[["plain",-1,"x",null],["q\"\\\n phở 😀",9007199254740992,null,7]]`
	testenv.Equal(t, want, rows.json())
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
		if _, err := s.bind(Postgres, args); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := s.bind(SQLite, []any{1, NewRowSet(1).Text("id", text).Int("n", number)}); err != nil {
		t.Error(err)
	}
}

// Only statements whose rows do not depend on each other run once per row.
func TestRowText(t *testing.T) {
	for text, want := range map[string]string{
		"INSERT INTO t (a) SELECT r.a FROM @rows AS r":                                              "INSERT INTO t (a) VALUES (?)",
		"INSERT INTO t (a) SELECT r.a FROM /*pg: f() CROSS JOIN */@rows AS r":                       "INSERT INTO t (a) VALUES (?)",
		"INSERT INTO t (a, b) SELECT r.b, r.a FROM @rows AS r":                                      "INSERT INTO t (a, b) VALUES (?, ?)",
		"INSERT INTO t (a, b, c) SELECT 'A', NULL, -7 FROM @rows AS r":                              "INSERT INTO t (a, b, c) VALUES ('A', NULL, -7)",
		"INSERT INTO t (a, b) SELECT r.a, $2 FROM @rows AS r":                                       "",
		"INSERT INTO t (a) SELECT r.a FROM @rows AS r WHERE true ON CONFLICT (a) DO NOTHING":        "INSERT INTO t (a) VALUES (?) ON CONFLICT (a) DO NOTHING",
		"INSERT INTO t (a) SELECT r.a FROM @rows AS r ON CONFLICT (a) DO UPDATE SET b = excluded.b": "INSERT INTO t (a) VALUES (?) ON CONFLICT (a) DO UPDATE SET b = excluded.b",
		"INSERT INTO t (a) SELECT r.a FROM @rows AS r ON CONFLICT (a) DO UPDATE SET b = $2":         "",
		"INSERT INTO t (a) SELECT r.a FROM @rows AS r ON CONFLICT (a) DO UPDATE SET b = r.b":        "",
		"INSERT INTO t (a) SELECT r.a FROM @rows AS r ON CONFLICT (a) DO NOTHING RETURNING a":       "",
		"INSERT INTO t (a) SELECT r.a FROM @rows AS r WHERE r.a > 'b'":                              "",
		"INSERT INTO t (a) SELECT r.a FROM @rows AS r ORDER BY r.a LIMIT 1":                         "",
		"INSERT INTO t (a) SELECT r.a FROM @rows AS r JOIN u ON u.a = r.a":                          "",
		"INSERT INTO t (a) SELECT r.a FROM u JOIN @rows AS r":                                       "",
		"INSERT INTO t (a) SELECT r.a FROM /*pg: f()*/ u /*pg: */@rows AS r":                        "",
		"INSERT INTO t (a) SELECT r.c FROM @rows AS r":                                              "",
		"INSERT INTO t (a) SELECT a FROM @rows AS r":                                                "",
		"INSERT INTO t (a) SELECT 'it''s' FROM @rows AS r":                                          "",
		"INSERT INTO t (a) SELECT DISTINCT r.a FROM @rows AS r":                                     "",
		"INSERT INTO t (a, b) SELECT r.a, row_number() OVER () FROM @rows AS r":                     "",
		"INSERT INTO t (a, b) SELECT r.a, (SELECT max(b) FROM t) FROM @rows AS r":                   "",
		"UPDATE t SET a = r.a, b = $2 FROM @rows AS r WHERE t.b = r.b":                              "UPDATE t SET a = ?, b = ? WHERE t.b = ?",
		"UPDATE t SET a = t.a + r.b FROM @rows AS r WHERE t.a = r.a AND t.b <> 'r.b'":               "UPDATE t SET a = t.a + ? WHERE t.a = ? AND t.b <> 'r.b'",
		"UPDATE t SET a = r.a FROM @rows AS r":                                                      "",
		"UPDATE t SET a = r.c FROM @rows AS r WHERE t.b = r.b":                                      "",
		"UPDATE t SET a = r.a FROM @rows AS r JOIN u ON u.b = r.b WHERE t.b = r.b":                  "",
		"UPDATE t SET a = r.a FROM u, @rows AS r WHERE t.b = r.b":                                   "",
		"UPDATE t SET a = (SELECT max(b) FROM t) FROM @rows AS r WHERE t.b = r.b":                   "",
		"UPDATE t SET a = r.a FROM @rows AS r WHERE t.b = r.b RETURNING t.b":                        "",
		"UPDATE t SET a = r.a FROM @rows AS r WHERE t.b = r.b /*pg: AND t.b = ANY ($1) */":          "",
		"UPDATE t SET a = 1 WHERE b IN (SELECT r.b FROM @rows AS r)":                                "",
		"SELECT r.a FROM @rows AS r":                                                                "",
	} {
		s := testenv.Must(compile("s", strings.Replace(text, "@rows", "@rows($1: a text, b int)", 1), nil))(t)
		if s.sqliteRow != want {
			t.Errorf("compile(%s) runs for one row as %q, want %q", text, s.sqliteRow, want)
		}
	}
	for text, want := range map[string][]int{
		"INSERT INTO t (a, b) SELECT r.b, r.a FROM @rows($1: a text, b int) AS r":                              {1, 0},
		"UPDATE t SET a = r.a, c = $3, d = $2 FROM @rows($1: a text, b int) AS r WHERE t.b = r.b AND t.c < $3": {0, ^2, ^1, 1, ^2},
		"UPDATE t SET a = r.a FROM @rows($2: a text, b int) AS r WHERE t.b = $1":                               nil,
		"UPDATE t SET a = r.a FROM @rows($1: a text, b int) AS r WHERE t.b = r.b AND u.b IN @rows($2: c int)":  nil,
	} {
		testenv.Equal(t, want, testenv.Must(compile("s", text, nil))(t).sqliteCells)
	}
}
