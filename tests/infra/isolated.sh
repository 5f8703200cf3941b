# In a mount namespace of its own: isolated.sh ROOT OPT TASK LANG RUNTIME PROGRAM TMP USER COMMAND...
# Runs a command in a root folder that has what Lambda's has, all of it read-only but /tmp.
set -eu
root=$1 opt=$2 task=$3 lang=$4 runtime=$5 program=$6 tmp=$7 user=$8
shift 8
mount --make-rprivate /
mount -t tmpfs tmpfs "$root"
mkdir -p "$root/var/task" "$root/var/lang" "$root/var/runtime" "$root/var/emulator" "$root/opt" "$root/tmp" "$root/proc" "$root/dev"
bound() {
    mount --bind "$1" "$root/$2"
    mount -o remount,bind,ro "$root/$2"
}
for folder in usr bin lib lib64 etc; do
    if [ -L "/$folder" ]; then
        cp -P "/$folder" "$root/$folder"
    elif [ -d "/$folder" ]; then
        mkdir "$root/$folder"
        bound "/$folder" "$folder"
    fi
done
bound "$opt" opt
bound "$task" var/task
bound "$lang" var/lang
bound "$runtime" var/runtime
bound "$program" var/emulator
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --bind "$tmp" "$root/tmp"
mount -o remount,ro "$root"
exec chroot ${user:+"--userspec=$user"} "$root" /usr/bin/env -i -C /var/task "$@"
