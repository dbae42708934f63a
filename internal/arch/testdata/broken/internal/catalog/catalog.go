package catalog

import (
	_ "net/http"
	"time"

	_ "comanda/internal/sqldb"
	_ "comanda/internal/stock"

	_ "github.com/redis/rueidis"
)

// Now stands here for no good reason. TODO: remove it.
func Now() time.Time { return time.Now() }
