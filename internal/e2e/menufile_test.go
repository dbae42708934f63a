package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"comanda/internal/testenv"
)

// importOutput is the output of comanda menu import.
type importOutput struct {
	Created  int `json:"created"`
	Updated  int `json:"updated"`
	Problems []struct {
		Row     int    `json:"row"`
		Column  string `json:"column"`
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"problems"`
}

// A menu of 60 dishes in two languages goes in through the command line beside a running server, and guests read it.
func TestMenuFile(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		dir := t.TempDir()
		file := func(name, content string) string {
			path := filepath.Join(dir, name)
			testenv.NoError(t, os.WriteFile(path, []byte(content), 0o600))
			return path
		}
		head := "key;category;name;description;price;quota;image;category:en;name:en;description:en\r\n"
		var b strings.Builder
		for i := range 60 {
			fmt.Fprintf(&b, "mon-%d;Nhóm %d;Món số %d;;%d.000 ₫;;;Group %d;Dish no. %d;Tasty\r\n", i, i%6, i, 20+i, i%6, i)
		}
		good := file("menu.csv", "\ufeff"+head+b.String())
		bad := file("bad.csv", head+strings.Replace(b.String(), "20.000 ₫", "cheap", 1))

		r := s.run("menu", "import", bad, "--branch", firstBranch, "--publish", "--json")
		var got importOutput
		if err := json.Unmarshal([]byte(r.out), &got); err != nil || r.code != 1 || len(got.Problems) != 1 {
			t.Fatalf("a bad file: %d %s %s", r.code, r.out, r.err)
		}
		if p := got.Problems[0]; p.Row != 2 || p.Column != "price" || p.Code != "price_unreadable" || p.Message == "" {
			t.Errorf("problem = %+v, want price_unreadable in row 2", p)
		}
		before := s.menu()
		for _, c := range []struct {
			args    []string
			created int
		}{{[]string{"--dry-run"}, 60}, {[]string{"--publish"}, 60}, {nil, 0}} {
			got = importOutput{}
			s.readJSON(&got, append([]string{"menu", "import", good, "--branch", firstBranch}, c.args...)...)
			if got.Created != c.created || got.Updated != 0 || got.Problems == nil || len(got.Problems) > 0 {
				t.Fatalf("import with %v = %+v, want %d created", c.args, got, c.created)
			}
		}
		var shown menu
		s.await(10*time.Second, func() error {
			if shown = s.menu(); len(shown.items()) != len(before.items())+60 {
				return fmt.Errorf("guests see %d dishes", len(shown.items()))
			}
			return nil
		})
		for locale, want := range map[string]string{"vi": "Món số 41", "en": "Dish no. 41"} {
			var m menu
			s.send(http.MethodPost, "/cis/menu/active?locale="+locale, map[string]string{"branchId": firstBranch}).
				want(t, http.StatusOK, "").into(t, &m)
			found := false
			for _, d := range m.items() {
				found = found || d.Name == want && d.Price == 61_000
			}
			if !found {
				t.Errorf("%s: no %q for 61,000", locale, want)
			}
		}
		book := filepath.Join(dir, "menu.xlsx")
		s.must("menu", "export", "--branch", firstBranch, "--output", book)
		s.readJSON(&got, "menu", "import", book, "--branch", firstBranch)
		if got.Created+got.Updated != 0 {
			t.Errorf("an export changes %+v", got)
		}
		s.readJSON(&got, "menu", "import", "--template", "pho", "--branch", firstBranch)
		if got.Created < 20 || got.Updated != 0 {
			t.Errorf("a template: %+v", got)
		}
		s.wantFailure("Available: bar, bistro, bubble-tea, cafe, pho, hanoi, taipei", "menu", "import", "--template", "pizza", "--branch", firstBranch)
		s.wantFailure("not both", "menu", "import", good, "--template", "pho", "--branch", firstBranch)
		s.wantFailure("Branch not found.", "menu", "import", good, "--branch", "99")
	}, embedded, servers)
}
