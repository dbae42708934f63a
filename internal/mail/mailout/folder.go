package mailout

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"comanda/internal/mail"
)

// Folder is mail.Transport for an installation without a mail server: each message becomes a file that mail programs
// open. The files contain codes, so only their owner may read them.
type Folder struct {
	dir  string
	from fromAddress
}

// NewFolder returns a transport into dir, which is created with the first message.
func NewFolder(dir, from string) (*Folder, error) {
	s, err := parseFrom(from)
	return &Folder{dir, s}, err
}

// Send implements mail.Transport. Sending a message again replaces its file.
func (f *Folder) Send(_ context.Context, m mail.Message) error {
	msg, err := f.from.compose(m)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return fmt.Errorf("%w: %w", mail.ErrUnreachable, err)
	}
	var b strings.Builder
	if _, err := msg.WriteTo(&b); err != nil {
		return fmt.Errorf("mailout: %w", err)
	}
	path := filepath.Join(f.dir, m.ID+".eml") // ids are created by Comanda, so they contain no separator
	if err := os.WriteFile(path+".new", []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("%w: %w", mail.ErrUnreachable, err)
	}
	if err := os.Rename(path+".new", path); err != nil { // atomic: readers see complete messages only
		return fmt.Errorf("%w: %w", mail.ErrUnreachable, err)
	}
	return nil
}
