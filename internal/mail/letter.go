package mail

import (
	"context"
	"errors"
	"time"
)

// Letter is mail as it waits.
type Letter struct {
	ID        string
	Recipient string // an e-mail address
	Template  string
	Locale    string
	Fields    map[string]string
	Created   time.Time
	Expires   time.Time
	Attempts  int // this one included
}

// Message is a letter as it is sent.
type Message struct {
	ID      string // of the letter; makes the Message-ID
	To      string
	Date    time.Time
	Subject string
	Text    string
	HTML    string
}

// Post sends messages: to a server, or into a folder. It gives ErrRefused for what will never be accepted and
// ErrUnreachable when nothing can be sent now; any other error is about this message.
type Post interface {
	Send(ctx context.Context, m Message) error
}

// What a Post says.
var (
	ErrRefused     = errors.New("mail: the server will never accept this message")
	ErrUnreachable = errors.New("mail: the server is out of reach")
)

// Store keeps letters, normally mailsql.
type Store interface {
	// Claim gives letters that are due, counts the attempt, and keeps others from them until a time.
	Claim(ctx context.Context, now, until time.Time, most int) ([]Letter, error)
	// Done deletes letters.
	Done(ctx context.Context, ids []string) error
	// Later lets a letter wait until a time. attempts replaces its count, reason its last error.
	Later(ctx context.Context, id string, at time.Time, attempts int, reason string) error
	// Bury marks a letter that will not be tried again.
	Bury(ctx context.Context, id, reason string) error
}
