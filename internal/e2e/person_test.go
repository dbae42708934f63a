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
	"strings"
)

// person is a person with an account.
type person struct {
	s       *installation
	id      string // account id, if known
	email   string
	access  string
	refresh string
}

const personPassword = "correct horse battery staple"

// registerPerson creates an account whose e-mail address is not verified yet.
func (s *installation) registerPerson(name string) person {
	s.t.Helper()
	p := person{s: s, email: name + "@example.com"}
	s.send(http.MethodPost, "/auth/register", map[string]string{"email": p.email, "password": personPassword}).
		want(s.t, http.StatusCreated, "")
	return p
}

// newPerson creates a logged-in account.
func (s *installation) newPerson(name string) person {
	s.t.Helper()
	p := s.registerPerson(name)
	p.verify(p.code()).want(s.t, http.StatusOK, "")
	p.logIn()
	return p
}

// code waits for the message with the code and returns the code.
func (p *person) code() (code string) {
	p.s.t.Helper()
	p.s.await(patience, func() error {
		for _, v := range p.s.servers {
			files, _ := filepath.Glob(filepath.Join(v.env["DATA_DIR"], "mail", "*.eml")) // the pattern is valid
			for _, file := range files {
				if code = codeIn(file, p.email); code != "" {
					return nil
				}
			}
		}
		return fmt.Errorf("no message to %s", p.email)
	})
	return code
}

var sixDigits = regexp.MustCompile(`\b\d{6}\b`)

// codeIn returns the code in a message file, or "" if the message is for another address than to.
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
	return sixDigits.FindString(plainText(m))
}

// plainText returns the plain part of a message; of a message that is not complete, what there is.
func plainText(m *netmail.Message) string {
	_, form, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	part, err := multipart.NewReader(m.Body, form["boundary"]).NextRawPart()
	if err != nil {
		return ""
	}
	text, _ := io.ReadAll(quotedprintable.NewReader(part))
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

func (p *person) verify(code string) answer {
	return p.s.send(http.MethodPost, "/auth/otp/verify", map[string]string{"purpose": "VERIFY", "email": p.email, "code": code})
}

// login sends a password to a server.
func (p *person) login(v *server, password string) answer {
	return p.s.sendTo(v.addr, http.MethodPost, "/auth/login", map[string]string{"email": p.email, "password": password})
}

// logIn logs in.
func (p *person) logIn() {
	p.s.t.Helper()
	p.storeTokens(p.login(p.s.servers[0], personPassword))
}

// storeTokens stores the tokens of a response.
func (p *person) storeTokens(a answer) {
	p.s.t.Helper()
	var pair struct {
		Access  string `json:"accessToken"`
		Refresh string `json:"refreshToken"`
	}
	a.into(p.s.t, &pair)
	p.access, p.refresh = pair.Access, pair.Refresh
}

// me asks a server for the bearer's account.
func (p *person) me(v *server) answer {
	return p.s.sendTo(v.addr, http.MethodGet, "/me", nil, "Authorization", "Bearer "+p.access)
}

func (p *person) logout(v *server) answer {
	return p.s.sendTo(v.addr, http.MethodPost, "/auth/logout", map[string]string{}, "Authorization", "Bearer "+p.access)
}

func (p *person) spendRefreshToken(refresh string) answer {
	return p.s.send(http.MethodPost, "/auth/refresh", map[string]string{"refreshToken": refresh})
}
