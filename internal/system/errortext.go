package system

import (
	"errors"
	"strings"

	"comanda/internal/fault"
	"comanda/internal/redisdb"
	"comanda/internal/sqldb"
)

// ErrorText returns the text of an error for the operator: a sentence without the names of packages that wrapped it. Of an
// outage it is the cause in one line, because the advice of its detail is for guests, and the statement that noticed it
// does not matter.
func ErrorText(err error) string {
	switch {
	case errors.Is(err, sqldb.ErrSchema):
		return sqldb.ErrSchema.Error()
	case errors.Is(err, redisdb.ErrNotRunning):
		return withoutPackages(redisdb.ErrNotRunning.Error()) + ": start comanda serve"
	}
	for what, outage := range map[string]*fault.Error{"the database": sqldb.ErrUnavailable, "Redis": redisdb.ErrDown} {
		if errors.Is(err, outage) {
			_, cause, _ := strings.Cut(err.Error(), outage.Detail)
			return what + " is unavailable" + strings.Join(strings.Fields(cause), " ")
		}
	}
	return withoutPackages(refusalText(err))
}

// refusalText returns the text of an error. The detail of a refusal is a whole sentence, which its cause would only repeat:
// of the cause it has the sentences about further fields.
func refusalText(err error) string {
	text := err.Error()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Err == nil || f.Detail == "" || f.Kind == fault.Internal || f.Kind == fault.Unavailable {
		return text
	}
	sentences := []string{strings.TrimSuffix(text, ": "+f.Err.Error())}
	for i, field := range fault.FieldsOf(f.Err) {
		if i > 0 { // the detail is about the first one
			sentences = append(sentences, field.Sentence())
		}
	}
	return strings.Join(sentences, " ")
}

// packages are the packages of this module whose errors begin with their name, as Go's convention is. They help in the log,
// where ErrorText is not used. A test compares the list with the sources.
var packages = map[string]bool{
	"account": true, "accountjwt": true, "accountoidc": true, "accountsql": true, "bench": true, "brand": true,
	"bus": true, "clock": true, "demo": true, "document": true, "documentsql": true, "event": true,
	"httpapi": true, "inbox": true, "keyspace": true, "limitredis": true, "linepay": true, "linepaysim": true,
	"load": true, "mail": true, "mailout": true, "menufile": true, "money": true, "notice": true,
	"noticepush": true, "orderinghttp": true, "outbox": true, "rabbit": true, "redisdb": true, "sqldb": true,
	"stock": true, "stockredis": true, "stocksql": true, "tagcache": true, "vnpay": true, "vnpaysim": true,
	"web": true, "worker": true,
}

// withoutPackages removes the names of packages at the beginning of a text, also after the name of a setting.
func withoutPackages(text string) string {
	var kept strings.Builder
	for {
		name, rest, found := strings.Cut(text, ": ")
		switch {
		case found && (name == "configuration" || strings.HasPrefix(name, "COMANDA_")):
			kept.WriteString(name + ": ")
		case !found || !packages[name]:
			return kept.String() + text
		}
		text = rest
	}
}
