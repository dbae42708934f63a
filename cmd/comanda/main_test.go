package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"comanda/internal/catalog"
	"comanda/internal/redisdb"
	"comanda/internal/testenv"
)

// A value of the wrong form is named by its field, as in the input, and not by a type of Go.
func TestPrice_wrong_form(t *testing.T) {
	const bill = `{"currency":"VND","priceMode":"INCLUSIVE","taxScope":"BILL","taxRounding":"HALF_UP","lines":[{"qty":"2"}]}`
	for name, c := range map[string]struct{ in, want string }{
		"allocate": {`{"total":1e3,"weights":[1]}`, "the input: a whole number is expected in total, not number 1e3; comanda price allocate --help"},
		"quote":    {bill, "the input: a whole number is expected in lines.qty, not string; comanda price quote --help"},
	} {
		for in, want := range map[string]string{c.in: c.want, `[]`: "the input: an object is expected, not array; "} {
			root := newRoot()
			root.SetArgs([]string{"price", name})
			root.SetIn(strings.NewReader(in))
			if err := root.Execute(); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("price %s with %s: error %v, want %s", name, in, err, want)
			}
		}
	}
}

// A wrong duration is refused before a server is built up and measured.
func TestBench_wrong_duration(t *testing.T) {
	root := newRoot()
	root.SetArgs([]string{"bench", "--seconds", "-1", "--data-dir", t.TempDir()})
	if err := root.Execute(); err == nil || !strings.Contains(err.Error(), "a measurement takes 10ms to 1m0s, not -1s") {
		t.Errorf("bench --seconds -1: error %v", err)
	}
}

// A date that is not one would leave orders out, and report the others as right.
func TestAuditPrices_wrong_date(t *testing.T) {
	run := commandsIn(t.TempDir())
	testenv.NoError(t, run("migrate up"))
	testenv.NoError(t, run("audit prices --from 2026-01-31"))
	for _, from := range []string{"2026-1-1", "31.01.2026", "now"} {
		if err := run("audit prices --from " + from); err == nil || !strings.Contains(err.Error(), "is not a date such as 2026-01-31") {
			t.Errorf("--from %s: error %v", from, err)
		}
	}
}

// Text that cannot be written fails the command.
func TestPrint_full_disk(t *testing.T) {
	root := newRoot()
	root.SetOut(fullDisk{})
	root.SetArgs([]string{"migrate", "up", "--data-dir", t.TempDir()})
	if err := root.Execute(); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("migrate up on a full disk: error %v", err)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// commandsIn returns a function that runs commands on a data folder.
func commandsIn(dir string) func(command string) error {
	return func(command string) error {
		root := newRoot()
		root.SetOut(io.Discard)
		root.SetArgs(append(strings.Fields(command), "--data-dir", dir))
		return root.Execute()
	}
}

// A wrong line of an import is named by its file, line and column.
func TestImport_names_the_position(t *testing.T) {
	run := commandsIn(t.TempDir())
	testenv.NoError(t, run("migrate up"))
	file := filepath.Join(t.TempDir(), "lines.jsonl")
	testenv.NoError(t, os.WriteFile(file, []byte("\n{\"entity\":\"user\" \"id\":\"1\"}\n"), 0o600))
	for _, command := range []string{"import ", "orders import ", "import --check "} {
		want := "import_invalid: " + file + `: Line 2: column 18: expected a comma or }, found "\"".`
		if err := run(command + file); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", command, err, want)
		}
	}
	if err := run("import " + t.TempDir()); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("import of a folder: error %v", err)
	}
}

// A command that writes a file names it.
func TestExport_names_the_file(t *testing.T) {
	dir := t.TempDir()
	run := commandsIn(dir)
	testenv.NoError(t, run("demo load"))
	menu, backup := filepath.Join(dir, "menu.csv"), filepath.Join(dir, "backup.db")
	for command, file := range map[string]string{"menu export --branch 1 --output " + menu: menu, "backup " + backup: backup} {
		var out strings.Builder
		root := newRoot()
		root.SetOut(&out)
		root.SetArgs(append(strings.Fields(command), "--data-dir", dir))
		if err := root.Execute(); err != nil || out.String() != "written to "+file+"\n" {
			t.Errorf("%s: error %v, output %q", command, err, out.String())
		}
		if err := run(command); err == nil || !strings.Contains(err.Error(), "exists") {
			t.Errorf("%s again: error %v, want one about the existing file", command, err)
		}
	}
}

// A replay of one event that is no dead letter fails. A replay of all succeeds, even of none.
func TestOutbox_replay_of_none(t *testing.T) {
	run := commandsIn(t.TempDir())
	testenv.NoError(t, run("migrate up"))
	testenv.NoError(t, run("outbox replay"))
	for _, command := range []string{"outbox replay --id 01x", "outbox replay --id 01x --consumer redis", "outbox replay --id 01x --json"} {
		if err := run(command); err == nil || !strings.Contains(err.Error(), `no dead letter of event "01x"`) {
			t.Errorf("%s: error %v", command, err)
		}
	}
}

// Without a server there is no store in which documents could be rebuilt. A comparison finds nothing wrong.
func TestIndex_without_a_server(t *testing.T) {
	run := commandsIn(t.TempDir())
	testenv.NoError(t, run("migrate up"))
	testenv.NoError(t, run("index verify"))
	testenv.ErrorIs(t, redisdb.ErrNotRunning, run("index rebuild"), "index rebuild")
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 dishes", 1: "1 dish", 2: "2 dishes"} {
		testenv.Equal(t, want, count(n, "dish", "dishes"))
	}
}

// A command in a folder without a database names the missing file, and creates neither file nor folder.
func TestCommands_without_a_database(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "misspelt")
	for _, command := range []string{
		"branch list", "stock show", "audit verify", "keys withdraw", "backup x.db", "migrate status", "migrate down",
		"user create --role owner --email a@b.example",
	} {
		root := newRoot()
		root.SetArgs(append(strings.Fields(command), "--data-dir", dir))
		if err := root.Execute(); err == nil || !strings.Contains(err.Error(), "there is no database "+dir) {
			t.Errorf("%s: error %v, want the missing database", command, err)
		}
	}
	var out strings.Builder
	root := newRoot()
	root.SetOut(&out)
	root.SetArgs([]string{"doctor", "--data-dir", dir})
	if err := root.Execute(); !errors.Is(err, errFound) || !strings.Contains(out.String(), "there is no database "+dir) {
		t.Errorf("doctor: error %v, output %s, want the missing database", err, out.String())
	}
	root = newRoot()
	root.SetArgs([]string{"branch", "list", "--data-dir", t.TempDir(), "--database-url", "sqlite:"})
	if err := root.Execute(); err == nil || !strings.Contains(err.Error(), "has no path") {
		t.Errorf("an address without a path: error %v, want one about the path", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder: error %v, want none created", err)
	}
}

// A mistyped branch is refused, because an empty list would look like a branch without tables.
func TestTables_of_an_unknown_branch(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) error {
		root := newRoot()
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		root.SetArgs(append(args, "--data-dir", dir))
		return root.Execute()
	}
	testenv.NoError(t, run("migrate", "up"), run("branch", "create", "--name", "Hoa", "--country", "VN"), run("tables", "--branch", "1"))
	testenv.ErrorIs(t, catalog.ErrBranch, run("tables", "--branch", "2"), "tables of branch 2")
}
