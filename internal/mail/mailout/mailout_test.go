package mailout_test

import (
	"context"
	"errors"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"comanda/internal/mail"
	"comanda/internal/mail/mailout"
	"comanda/internal/mail/mailtest"
	"comanda/internal/telemetry"
	"comanda/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func message(t *testing.T) mail.Message {
	t.Helper()
	m := testenv.Must(mail.Render("verify", "zh-TW", map[string]string{"code": "493028", "name": "陳小姐"}))(t)
	m.ID, m.To, m.Date = "01j9v0k4v5", "guest@example.com", time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)
	return m
}

func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mail")
	f := testenv.Must(mailout.NewFolder(dir, "Comanda <no-reply@house.example>"))(t)
	for range 2 { // the second replaces the file
		testenv.NoError(t, f.Send(t.Context(), message(t)))
	}
	names, err := filepath.Glob(dir + "/*")
	if err != nil || len(names) != 1 || filepath.Base(names[0]) != "01j9v0k4v5.eml" {
		t.Fatalf("files = %v, %v, want only 01j9v0k4v5.eml", names, err)
	}
	info, err := os.Stat(names[0])
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode = %v, %v, want 0600", info.Mode(), err)
	}
	file := testenv.Must(os.Open(names[0]))(t)
	defer file.Close()
	m, err := netmail.ReadMessage(file)
	if err != nil || m.Header.Get("To") != "<guest@example.com>" || m.Header.Get("Date") == "" {
		t.Errorf("headers = %v, %v, want To guest@example.com and a Date", m.Header, err)
	}
	if !strings.HasPrefix(m.Header.Get("Subject"), "=?UTF-8?") {
		t.Errorf("subject %q", m.Header.Get("Subject"))
	}
}

func TestFolder_refuses(t *testing.T) {
	f := testenv.Must(mailout.NewFolder(t.TempDir(), "no-reply@house.example"))(t)
	m := message(t)
	m.To = "guest@example.com\r\nBcc: all@example.com"
	testenv.ErrorIs(t, mail.ErrRefused, f.Send(t.Context(), m), "Send with a line break in To")
}

// Line breaks in a subject, which no template contains, do not start another header.
func TestSMTP_subject(t *testing.T) {
	server := mailtest.New(t)
	s, err := mailout.NewSMTP(mailout.Config{URL: telemetry.Secret(server.URL()), From: "no-reply@house.example"})
	if err != nil {
		t.Fatal(err)
	}
	m := message(t)
	m.Subject = "Hello\r\nBcc: all@example.com\r\n\r\nan early body"
	_ = s.Send(t.Context(), m) // may be refused or sent
	got, raw := server.Messages()
	for i := range got {
		if got[i].Header.Get("Bcc") != "" || strings.HasPrefix(mailtest.Body(t, got[i]), "an early body") {
			t.Errorf("a header was injected:\n%s", raw[i])
		}
	}
}

// A server may close the connection, or refuse further commands, as soon as it has accepted a message.
func TestSMTP_accepted(t *testing.T) {
	for _, reply := range []string{"421 4.4.2 one message for each connection", "502 5.5.1 not here"} {
		server := mailtest.New(t)
		server.Reply("RSET", reply)
		s := testenv.Must(mailout.NewSMTP(mailout.Config{URL: telemetry.Secret(server.URL()), From: "no-reply@house.example"}))(t)
		testenv.NoError(t, s.Send(t.Context(), message(t)))
		if got, _ := server.Messages(); len(got) != 1 {
			t.Errorf("before %s: %d messages", reply, len(got))
		}
	}
}

func TestSMTP_deadline(t *testing.T) {
	server := mailtest.New(t)
	s, err := mailout.NewSMTP(mailout.Config{URL: telemetry.Secret(server.URL()), From: "no-reply@house.example"})
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	testenv.ErrorIs(t, mail.ErrUnreachable, s.Send(ended, message(t)), "Send after the deadline")
}

func TestConfig(t *testing.T) {
	const from = "House <no-reply@house.example>"
	for url, ok := range map[string]bool{
		"smtp://mail.example": true, "smtps://user:pa%20ss@mail.example:465": true, "smtp://u:p@127.0.0.1:2525": true,
		"mail.example": false, "http://mail.example": false, "smtp://": false, "smtp://u:secret@mail.example:port": false,
	} {
		_, err := mailout.NewSMTP(mailout.Config{URL: telemetry.Secret(url), From: from})
		if (err == nil) != ok || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("NewSMTP(%s): error %v, want success %t, and no secret in it", url, err, ok)
		}
	}
	for _, bad := range []string{"", "House", "a@b\r\nBcc: c@d", "a@b, c@d"} {
		if _, err := mailout.NewSMTP(mailout.Config{URL: "smtp://mail.example", From: bad}); err == nil {
			t.Errorf("sender %q was accepted", bad)
		}
	}
}

// Credentials are sent to a server that asks for them. A refused login counts as unreachable, and the error does not
// contain the password.
func TestSMTP_login(t *testing.T) {
	server := mailtest.Start(t, "127.0.0.1:0", "house", "a planted password")
	for password, want := range map[string]error{"a%20planted%20password": nil, "another": mail.ErrLogin} {
		s := testenv.Must(mailout.NewSMTP(mailout.Config{
			URL: telemetry.Secret("smtp://house:" + password + "@" + server.Addr()), From: "no-reply@house.example",
		}))(t)
		if err := s.Send(t.Context(), message(t)); !errors.Is(err, want) || err != nil &&
			(!errors.Is(err, mail.ErrUnreachable) || strings.Contains(err.Error(), password)) { // E2: it uses up no attempt
			t.Errorf("with %s: %v", password, err)
		}
	}
	if got, _ := server.Messages(); len(got) != 1 {
		t.Errorf("%d messages", len(got))
	}
}
