package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"comanda/internal/testenv"
)

// setupOutput is the output of comanda setup.
type setupOutput struct {
	Steps []struct {
		Kind, Name, Action, Detail string
	}
	Problems []struct {
		Line           int
		Field, Message string
	}
}

// actions returns the steps as lines such as "create branch Quán Hoa".
func (s setupOutput) actions() string {
	lines := make([]string, len(s.Steps))
	for i, step := range s.Steps {
		lines[i] = strings.TrimSpace(step.Action + " " + step.Kind + " " + step.Name)
	}
	return strings.Join(lines, "\n")
}

const setupYAML = `owner: {email: Hoa@house.example, name: Hoa}
settings: {payment_window: 20m, vnpay_tmn_code: QUANHOA1, vnpay_hash_secret: {file: secret.txt}}
branches:
  - name: Quán Hoa
    country: VN
    tables:
      - labels: A1-A3
      - {labels: T1, seats: 8}
    menu: {template: pho}
people:
  - {email: anh@house.example, name: Anh, role: cashier, branches: [Quán Hoa], password: {file: anh.txt}}
`

// A set-up file turns an empty folder into a restaurant that takes an order. Applied again, it changes nothing. An
// edited file changes only what differs, and an invalid file changes nothing.
func TestSetupFile(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := bare(t, k, settings{"PASSWORD": "ngoi ben ho uong tra", "SANDBOX_PAYMENTS": "on"})
		if k == embedded { // an empty folder has no tables either
			s.env["DATABASE_URL"] = "sqlite:" + filepath.Join(t.TempDir(), "comanda.db")
		}
		dir := t.TempDir()
		house := filepath.Join(dir, "house.yaml")
		for name, content := range map[string]string{
			"house.yaml": setupYAML, "secret.txt": "a-secret-of-vnpay\n", "anh.txt": "gio mua thu la vang roi\n",
		} {
			testenv.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
		}
		setUp := func(want string, args ...string) {
			t.Helper()
			var got setupOutput
			if s.readJSON(&got, append([]string{"setup", "--file", house}, args...)...); got.actions() != want || got.Problems == nil {
				t.Errorf("%v did\n%s\nwant\n%s", args, got.actions(), want)
			}
		}
		all := "create owner hoa@house.example\nchange settings payment_window, vnpay_hash_secret, vnpay_tmn_code\n" +
			"create branch Quán Hoa\ncreate tables Quán Hoa\ncreate tables Quán Hoa\ncreate menu Quán Hoa\ncreate person anh@house.example"
		setUp(all, "--dry-run")
		setUp(all)
		setUp("keep owner hoa@house.example\nkeep settings\nkeep branch Quán Hoa\nkeep tables Quán Hoa\nkeep menu Quán Hoa\n" +
			"keep person anh@house.example")
		s.applyChanges(house, setUp)

		s.servers[0].args = nil // without the demo
		s.servers[0].start()
		s.readMenu()
		o := s.guest(0).mustPlace(t, line{ItemID: s.bill.Categories[0].Items[0].ItemID, Qty: 2})
		if o.Total != 130000 || o.Currency != "VND" {
			t.Errorf("the first order is %+v", o)
		}
		for name, password := range map[string]string{
			"hoa@house.example": "ngoi ben ho uong tra", "anh@house.example": "gio mua thu la vang roi",
		} {
			s.send(http.MethodPost, "/auth/login", map[string]string{"email": name, "password": password}).
				want(t, http.StatusOK, "")
		}
	}, embedded, servers)
}

// applyChanges applies a set-up file with differences, and one with mistakes.
func (s *installation) applyChanges(house string, setUp func(want string, args ...string)) {
	s.t.Helper()
	write := func(replaced ...string) {
		text := strings.NewReplacer(replaced...).Replace(setupYAML)
		testenv.NoError(s.t, os.WriteFile(house, []byte(text), 0o600))
	}
	write("20m", "25m", "A1-A3", "A1-A4", "country: VN", "country: VN\n    locales: [vi]", "role: cashier", "role: manager")
	setUp("keep owner hoa@house.example\nchange settings payment_window\nchange branch Quán Hoa\ncreate tables Quán Hoa\n" +
		"keep menu Quán Hoa\nchange person anh@house.example")

	write("20m", "20", "VN", "XX", "A1-A3", "A3-A1", "pho", "pizza", "cashier", "chef", "hoa@", "hoa")
	r := s.run("setup", "--file", house, "--json")
	var got setupOutput
	if err := json.Unmarshal([]byte(r.out), &got); err != nil || r.code != 1 || len(got.Steps) > 0 {
		s.t.Fatalf("a file with mistakes: %d %s%s", r.code, r.out, r.err)
	}
	var places []string
	for _, p := range got.Problems {
		places = append(places, fmt.Sprintf("%d %s", p.Line, p.Field))
	}
	want := "2 settings.payment_window\n5 branches[0].country\n11 people[0].role"
	if got := strings.Join(places, "\n"); got != want {
		s.t.Errorf("problems at\n%s\nwant\n%s\n%+v", got, want, places)
	}
}
