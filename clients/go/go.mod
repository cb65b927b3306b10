module tradewire.example/client

go 1.23
