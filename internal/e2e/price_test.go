package e2e

import (
	"bytes"
	"net/http"
	"os/exec"
	"strings"
	"testing"
)

// The price engine returns the same results and refusals on the command line and over HTTP.
func TestPrice(t *testing.T) {
	t.Parallel()
	s := open(t, embedded, nil)
	const good = `{"currency":"VND","priceMode":"INCLUSIVE","taxScope":"BILL","taxRounding":"HALF_UP",
		"lines":[{"qty":2,"unitPrice":65000,"rate":"8","discounts":[{"percent":"10"},{"amount":500}]}],
		"discounts":[{"percent":"10"}],"serviceCharges":[{"percent":"10","taxed":true}],"cashRounding":0}`
	code, out, errs := s.pipe(good, "price", "quote")
	if want := `{"goods":130000,"discount":25200,"service":10480,"taxes":[{"rate":"8","base":106741,"amount":8539}],` +
		`"rounding":0,"total":115280,"lines":[{"gross":130000,"discount":25200,"service":10480,"tax":8539}]}`; code != 0 || out != want {
		t.Errorf("price quote: code %d, output %s, errors %s, want 0 and %s", code, out, errs, want)
	}
	a := s.staff(http.MethodPost, "/api/price/quote", []byte(good)).want(t, http.StatusOK, "")
	if served := strings.TrimSpace(string(a.body)); served != out {
		t.Errorf("over HTTP %s, on the command line %s", served, out)
	}
	for name, bad := range map[string]string{
		"rate":            strings.Replace(good, `"rate":"8"`, `"rate":"8.00001"`, 1),
		"negative amount": strings.Replace(good, `"amount":500`, `"amount":-500`, 1),
		"two kinds":       strings.Replace(good, `{"amount":500}`, `{"amount":500,"percent":"1"}`, 1),
		"unknown field":   strings.Replace(good, `"cashRounding"`, `"cashRound"`, 1),
		"number":          strings.Replace(good, `"rate":"8"`, `"rate":8`, 1),
		"fraction":        strings.Replace(good, `"unitPrice":65000`, `"unitPrice":65000.5`, 1),
		"too much":        strings.Replace(good, `"unitPrice":65000`, `"unitPrice":9007199254740991`, 1),
	} {
		s.staff(http.MethodPost, "/api/price/quote", []byte(bad)).want(t, http.StatusUnprocessableEntity, "invalid")
		if code, out, errs := s.pipe(bad, "price", "quote"); code != 1 || out != "" || errs == "" {
			t.Errorf("price quote with %s: code %d, output %s, errors %s, want 1 and an error", name, code, out, errs)
		}
	}
	s.send(http.MethodPost, "/api/price/quote", []byte(good)).want(t, http.StatusUnauthorized, "")

	if code, out, _ := s.pipe(`{"total":100,"weights":[1,1,1]}`, "price", "allocate"); code != 0 || out != `{"parts":[34,33,33]}` {
		t.Errorf("price allocate: code %d, output %s, want 0 and 34, 33, 33", code, out)
	}
	for _, bad := range []string{`{"weights":[1]}`, `{"total":1,"weights":[0,0]}`, `{"total":-1,"weights":[1]}`, `{"total":1}{}`, ``} {
		if code, out, errs := s.pipe(bad, "price", "allocate"); code != 1 || out != "" || errs == "" {
			t.Errorf("price allocate of %s: code %d, output %s, errors %s, want 1 and an error", bad, code, out, errs)
		}
	}
}

// pipe runs a command with text on its standard input.
func (s *installation) pipe(text string, args ...string) (code int, out, errs string) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), binary, args...)
	var stdout, stderr bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.environ(nil), strings.NewReader(text), &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), strings.TrimSpace(stdout.String()), stderr.String()
}
