// Package accounthttp has the routes for registration, login, own accounts and the administration of accounts.
package accounthttp
