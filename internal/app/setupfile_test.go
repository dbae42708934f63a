package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

// Every mistake in a set-up file is reported with its line and field, and nothing is created.
func TestSetUpRestaurant_problems(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"", "0 : the file is empty"},
		{"owner: [", "1 : did not find expected node content"},
		{"owner: {email: a@b.example}\nbranch: []", "2 branch: Unknown field. The fields here are owner, settings, branches, people."},
		{"settings:\n  smtp_url: {path: x}", "2 settings.smtp_url: Expected a text, or one of file and env, found fields."},
		{"settings:\n  smtp_url: [a]", "2 settings.smtp_url: Expected a text, or one of file and env, found a list."},
		{"owner: {email: a@b.example}\n---\nbranches: []", "2 : The file has a second document. Write everything before the line with ---."},
		{"branches:\n  - name: A\n    dayStart: four", `3 branches[0].dayStart: Expected a whole number, found "four".`},
		{"branches: [{tables: [{labels: T1, seats: 2.5}]}]", `1 branches[0].tables[0].seats: Expected a whole number, found "2.5".`},
		{"branches: [{dayStart: 99999999999999999999}]", `1 branches[0].dayStart: Expected a whole number, found "99999999999999999999".`},
		{"branches:\n  - locales: vi", `2 branches[0].locales: Expected a list, found "vi".`},
		{"branches:\n  - tables: A1-A8", `2 branches[0].tables: Expected a list, found "A1-A8".`},
		{"branches:\n  - menu: pho", `2 branches[0].menu: Expected the fields template, file, found "pho".`},
		{"branches:\n  - name: [A]", "2 branches[0].name: Expected a text, found a list."},
		{"owner: {email: a@b.example}\nowner: {name: A}", "2 owner: This field is listed twice."},
		{"settings: on", `1 settings: Expected lines of name: value, found "on".`},
		{"a house", `1 : Expected the fields owner, settings, branches, people, found "a house".`},
		{"a: &a [*a]", "1 a: Unknown field. The fields here are owner, settings, branches, people."},
		{"branches: &a [*a]", "1 branches[0]: Expected the fields name, country, currency, timezone, dayStart, locales, tables, menu, found a list."},
		{"owner: &a {<<: *a}", "0 : anchor 'a' value contains itself"},
		{"settings: &a {x: 1, x: 2, <<: *a}", "1 settings.x\n1 settings.x"},
		{"settings: &a {<<: *a}", "0 : anchor 'a' value contains itself"},
		{"branches:\n  - &x {dayStart: x}\n  - <<: *x", "2 branches[0].dayStart\n2 branches[1].dayStart"},
		{`owner: {email: a@b.example, password: {file: short.txt}, role: owner}
settings:
  nothing: x
  smtp_url: smtp://a:b@c
  vnpay_hash_secret: {env: COMANDA_TEST_NO_SUCH}
  log_level: debug
branches:
  - {name: A, country: US}
  - name: B
    country: DE
    tables:
      - labels: T1-T3
      - labels: T2
      - {labels: U1, seats: 0}
      - {labels: V1, section: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}
    menu: {template: pizza}
  - {name: B, country: DE}
  - {name: C, country: DE, menu: {template: pho, file: x.csv}}
  - {name: D, country: DE, menu: {file: missing.csv}}
  - {name: E, country: DE, menu: {file: bad.csv}}
people:
  - {email: chef, role: staff}
  - {email: c@b.example, role: chef}
  - {email: d@b.example, role: staff}
  - {email: e@b.example, role: admin, branches: [A]}
  - {email: f@b.example, role: staff, branches: [A, Z]}
  - {email: F@b.example, role: staff, branches: [A]}
  - {email: g@b.example, role: staff, branches: [A], password: typed}
  - {email: h@b.example, role: user, branches: [A]}
  - {email: i@b.example, role: user}
`, `1 owner
1 owner.password
6 settings.log_level
3 settings.nothing
4 settings.smtp_url
5 settings.vnpay_hash_secret
8 branches[0].timezone
13 branches[1].tables[1].labels
14 branches[1].tables[2].seats
15 branches[1].tables[3].section
16 branches[1].menu.template
17 branches[2].name
18 branches[3].menu
19 branches[4].menu.file
20 branches[5].menu.file
22 people[0].email
23 people[1].role
24 people[2].branches
25 people[3].branches
26 people[4].branches[1]
27 people[5].email
28 people[6].password
29 people[7].branches`},
	} {
		dir := t.TempDir()
		for name, content := range map[string]string{"short.txt": "short", "bad.csv": "category,name,price\nA,B,cheap\n"} {
			testenv.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
		}
		config := testenv.Must(LoadConfig(map[string]string{"COMANDA_DATA_DIR": filepath.Join(dir, "data")}, nil, "", nil))(t)
		r, err := SetUpRestaurant(t.Context(), config, RestaurantSetup{File: []byte(c.file), Dir: dir, DryRun: true})
		if err != nil || len(r.Steps) > 0 {
			t.Fatalf("dry run = %+v, %v, want problems and no steps", r, err)
		}
		var got []string
		for _, p := range r.Problems {
			place := fmt.Sprintf("%d %s", p.Line, p.Field)
			if len(r.Problems) == 1 {
				place += ": " + p.Message
			}
			got = append(got, place)
		}
		if text := strings.Join(got, "\n"); text != c.want {
			t.Errorf("%s\nhas\n%s\nwant\n%s", c.file, text, c.want)
		}
		if _, err := os.Stat(config.DataDir); !os.IsNotExist(err) {
			t.Error("a dry run has made the data folder")
		}
	}
}

// A second run of a file keeps all accounts, also those whose branches are listed twice: a change would end their sessions.
func TestSetUpRestaurant_again(t *testing.T) {
	config := testenv.Must(LoadConfig(map[string]string{"COMANDA_DATA_DIR": filepath.Join(t.TempDir(), "data")}, nil, "", nil))(t)
	setup := RestaurantSetup{Dir: t.TempDir(), File: []byte(`owner: {email: a@b.example}
branches:
  - {name: A, country: DE, locales: [de], timezone: Europe/Berlin}
  - {name: B, country: DE, locales: [de], timezone: Europe/Berlin}
people:
  - {email: c@b.example, role: staff, branches: [B, A, B]}
  - {email: d@b.example, role: user}
  - {email: e@b.example, role: admin}
`), Password: func() (string, error) { return "a long enough password", nil }}
	for run, want := range []string{stepCreate, stepKeep} {
		r, err := SetUpRestaurant(t.Context(), config, setup)
		if err != nil || len(r.Problems) > 0 || len(r.Steps) != 6 {
			t.Fatalf("run %d: %+v, %v", run, r, err)
		}
		for _, s := range r.Steps {
			if s.Action != want {
				t.Errorf("run %d: %s %s %s, want %s", run, s.Action, s.Kind, s.Name, want)
			}
		}
	}
}

// A file whose branch was renamed after an earlier run is refused: its menu would replace that of the renamed branch. Tables that
// exceed one request are created by several.
func TestSetUpRestaurant_renamed_branch(t *testing.T) {
	config := testenv.Must(LoadConfig(map[string]string{"COMANDA_DATA_DIR": filepath.Join(t.TempDir(), "data")}, nil, "", nil))(t)
	setup := RestaurantSetup{Dir: t.TempDir(), File: []byte(`owner: {email: a@b.example}
branches:
  - name: A
    country: DE
    locales: [de]
    timezone: Europe/Berlin
    tables: [{labels: A1-A150}, {labels: B1-B100}]
`), Password: func() (string, error) { return "a long enough password", nil }}
	r, err := SetUpRestaurant(t.Context(), config, setup)
	if err != nil || len(r.Problems) > 0 || len(r.Steps) != 4 {
		t.Fatalf("the first run: %+v, %v", r, err)
	}
	db := testenv.Must(sqldb.Open(t.Context(), sqldb.Config{URL: config.DatabaseURL}))(t)
	testenv.Must(db.Exec(t.Context(), sqldb.Load(fstest.MapFS{"it.sql": {Data: []byte(`UPDATE branch SET name = 'B'`)}}).Must("it")))(t)
	db.Close()
	if _, err := SetUpRestaurant(t.Context(), config, setup); err == nil || !strings.Contains(err.Error(), `is now "B" or archived`) {
		t.Errorf("after the branch was renamed: %v", err)
	}
}
