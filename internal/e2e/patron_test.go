package e2e

import (
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/http"
	netmail "net/mail"
	"os"
	"path/filepath"
	"regexp"
)

// patron is somebody with an account.
type patron struct {
	s       *site
	id      string // of the account, where it is known
	email   string
	access  string
	refresh string
}

const patronPassword = "correct horse battery staple"

// registered makes an account whose e-mail address is not proved yet.
func (s *site) registered(name string) patron {
	s.t.Helper()
	p := patron{s: s, email: name + "@example.com"}
	s.send(http.MethodPost, "/auth/register", map[string]string{"email": p.email, "password": patronPassword}).
		want(s.t, http.StatusCreated, "")
	return p
}

// patron makes an account that is logged in.
func (s *site) patron(name string) patron {
	s.t.Helper()
	p := s.registered(name)
	p.verify(p.code()).want(s.t, http.StatusOK, "")
	p.enter()
	return p
}

// code waits for the letter with the code and reads it.
func (p *patron) code() (code string) {
	p.s.t.Helper()
	p.s.await(patience, func() error {
		for _, v := range p.s.servers {
			files, _ := filepath.Glob(filepath.Join(v.env["DATA_DIR"], "mail", "*.eml")) // the pattern is sound
			for _, file := range files {
				if code = codeIn(file, p.email); code != "" {
					return nil
				}
			}
		}
		return fmt.Errorf("no letter to %s", p.email)
	})
	return code
}

var sixDigits = regexp.MustCompile(`\b\d{6}\b`)

// codeIn reads the code out of the text of a letter, if it is to somebody.
func codeIn(file, to string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	m, err := netmail.ReadMessage(f)
	if err != nil || m.Header.Get("To") != "<"+to+">" {
		return ""
	}
	_, form, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	part, err := multipart.NewReader(m.Body, form["boundary"]).NextRawPart()
	if err != nil {
		return ""
	}
	text, _ := io.ReadAll(quotedprintable.NewReader(part)) // half a letter has no code
	return sixDigits.FindString(string(text))
}

func (p *patron) verify(code string) answer {
	return p.s.send(http.MethodPost, "/auth/otp/verify", map[string]string{"purpose": "VERIFY", "email": p.email, "code": code})
}

// login tries a password at one of the servers.
func (p *patron) login(v *server, password string) answer {
	return p.s.sendTo(v.addr, http.MethodPost, "/auth/login", map[string]string{"email": p.email, "password": password})
}

// enter logs in.
func (p *patron) enter() {
	p.s.t.Helper()
	p.take(p.login(p.s.servers[0], patronPassword))
}

// take keeps the tokens of an answer.
func (p *patron) take(a answer) {
	p.s.t.Helper()
	var pair struct {
		Access  string `json:"accessToken"`
		Refresh string `json:"refreshToken"`
	}
	a.into(p.s.t, &pair)
	p.access, p.refresh = pair.Access, pair.Refresh
}

// me asks one of the servers who the bearer is.
func (p *patron) me(v *server) answer {
	return p.s.sendTo(v.addr, http.MethodGet, "/me", nil, "Authorization", "Bearer "+p.access)
}

func (p *patron) logout(v *server) answer {
	return p.s.sendTo(v.addr, http.MethodPost, "/auth/logout", map[string]string{}, "Authorization", "Bearer "+p.access)
}

func (p *patron) spend(refresh string) answer {
	return p.s.send(http.MethodPost, "/auth/refresh", map[string]string{"refreshToken": refresh})
}
