import type { InstallTexts } from './texts.ts';

export const fr: InstallTexts = {
  name: 'Français',
  direction: 'ltr',
  locale: 'fr-FR',
  chooseLanguage: 'Langue',
  ready: {
    title: 'Installez votre eSIM',
    text: 'Installez-la sur le téléphone que vous emportez, de préférence avant le départ. Restez connecté au Wi-Fi jusqu’à la fin. Elle ne peut être installée qu’une seule fois.',
  },
  installed: {
    title: 'Déjà installée sur un appareil',
    text: 'Cette eSIM se trouve sur un appareil ; son code n’est donc plus affiché. Pour la transférer, adressez-vous à votre vendeur.',
  },
  notDelivered: {
    title: 'Votre eSIM est en préparation',
    text: 'Cette page s’actualise d’elle-même. Vous pouvez la fermer et revenir.',
  },
  ended: {
    title: 'Cette eSIM ne peut pas être installée',
    text: 'Si cela vous surprend, adressez-vous à votre vendeur.',
  },
  plan: {
    heading: 'Votre forfait',
    dataLeft: 'Données restantes',
    of: (left, total) => `${left} sur ${total}`,
    installBy: 'À installer avant le',
    firstUseBy: 'À utiliser pour la première fois avant le',
    validFor: 'Valable dès la première utilisation pendant',
    timeLeft: 'Durée restante',
    validUntil: 'Valable jusqu’au',
    asOf: (age) => `Dernier état connu : ${age}. La consommation peut avoir jusqu’à trois heures de retard.`,
  },
  oneTap: {
    title: 'Sur ce téléphone',
    text: 'Touchez une fois et suivez les indications.',
    iphone: 'Installer sur iPhone',
    iphoneNote: 'iOS 17.4 ou plus récent',
    android: 'Installer sur Android',
    androidNote: 'Téléphones Android récents',
  },
  qr: {
    title: 'Avec l’appareil photo',
    text: 'Ouvrez cette page sur un autre écran et scannez le code avec le téléphone.',
    label: 'Code QR qui installe l’eSIM',
  },
  byHand: {
    title: 'À la main',
    text: 'Si rien d’autre ne marche, saisissez ces valeurs quand le téléphone les demande.',
    smdpAddress: 'Adresse SM-DP+ (iPhone)',
    matchingId: 'Code d’activation (iPhone)',
    activationCode: 'Code d’activation (Android)',
    apn: 'APN, seulement si le téléphone le demande',
    copy: 'Copier',
    copied: 'Copié',
  },
  steps: {
    heading: 'Étape par étape',
    iphone: {
      title: 'iPhone',
      steps: [
        'Ouvrez Réglages, puis Données cellulaires.',
        'Touchez Ajouter une eSIM, puis Utiliser un code QR.',
        'Scannez le code, ou touchez Saisir les détails manuellement et entrez les deux lignes ci-dessus.',
        'Touchez Continuer et attendez l’activation. Nommez l’eSIM, par exemple Voyage.',
        'À l’arrivée : choisissez l’eSIM pour les données cellulaires et activez Données à l’étranger pour elle.',
      ],
    },
    samsung: {
      title: 'Samsung Galaxy',
      steps: [
        'Ouvrez Paramètres, puis Connexions, puis Gestionnaire SIM.',
        'Touchez Ajouter une eSIM, puis Scanner le code QR.',
        'Scannez le code, ou touchez Saisir le code d’activation et entrez le code pour Android.',
        'Touchez Ajouter et attendez. Activez l’eSIM dans le Gestionnaire SIM.',
        'À l’arrivée : choisissez l’eSIM pour les données mobiles, puis activez Itinérance des données sous Réseaux mobiles.',
      ],
    },
    pixel: {
      title: 'Google Pixel et autres téléphones Android',
      steps: [
        'Ouvrez Paramètres, puis Réseau et Internet, puis Cartes SIM.',
        'Touchez Ajouter une carte SIM, puis Configurer une eSIM.',
        'Scannez le code, ou touchez Besoin d’aide ? et saisissez le code pour Android à la main.',
        'Touchez Télécharger et attendez. Activez Utiliser la carte SIM.',
        'À l’arrivée : activez Données mobiles et Itinérance pour l’eSIM.',
      ],
    },
  },
  help: {
    heading: 'Si cela ne marche pas',
    causes: [
      {
        summary: 'Le téléphone ne propose pas « Ajouter une eSIM ».',
        nextStep:
          'Il n’accepte pas les eSIM, ou il est bloqué par un opérateur. Demandez au magasin qui l’a vendu.',
      },
      {
        summary: 'L’installation s’arrête.',
        nextStep: 'Connectez-vous au Wi-Fi, redémarrez le téléphone et recommencez sur le même téléphone.',
      },
      {
        summary: 'Le téléphone indique que le code a déjà servi.',
        nextStep: 'Regardez la liste des SIM : l’eSIM y est peut-être déjà, désactivée.',
      },
      {
        summary: 'Elle est installée, mais il n’y a pas d’internet.',
        nextStep:
          'Activez l’itinérance des données pour l’eSIM et choisissez-la pour les données mobiles. Puis activez et désactivez le mode avion.',
      },
    ],
  },
  keepPrivate:
    'Gardez l’adresse de cette page pour vous : toute personne qui la possède peut installer l’eSIM.',
  askShop: 'Des questions ? Contactez la boutique',
  topUps: {
    title: 'Recharge automatique',
    text: 'Quand il reste peu de données, cette eSIM est rechargée automatiquement, dans la limite que vous fixez. Vous pouvez la désactiver ici à tout moment.',
    howMany: 'Recharges au maximum',
    days: 'Pendant combien de jours',
    turnOn: 'Activer la recharge automatique',
    turnOff: 'Désactiver la recharge automatique',
    isOn: (used, most) => `Elle est active : ${used} recharge(s) utilisée(s) sur ${most} au maximum.`,
    until: (date) => `Elle prend fin le ${date}.`,
  },
  diagnosis: {
    NOT_DELIVERED: {
      summary: 'L’eSIM n’est pas encore livrée.',
      nextStep:
        'Cela prend en général moins d’une minute après le paiement. Si c’est plus long, demandez là où vous l’avez achetée.',
    },
    DELIVERY_FAILED: {
      summary: 'L’eSIM n’a pas été livrée.',
      nextStep: 'Adressez-vous à votre vendeur ; le paiement est rendu.',
    },
    NOT_SCANNED: {
      summary: 'L’eSIM n’est pas encore installée.',
      nextStep: 'Ouvrez la page d’installation sur le téléphone et installez-la, en Wi-Fi.',
    },
    DOWNLOAD_INTERRUPTED: {
      summary: 'Le téléchargement sur le téléphone a commencé et n’est pas terminé.',
      nextStep:
        'Connectez-vous au Wi-Fi, redémarrez le téléphone et réinstallez l’eSIM sur le même téléphone.',
    },
    SWITCHED_OFF: {
      summary: 'L’eSIM est installée et désactivée.',
      nextStep: 'Activez-la dans les réglages SIM du téléphone.',
    },
    NOT_CONNECTED: {
      summary: 'L’eSIM est installée et activée, mais ne s’est encore connectée à aucun réseau.',
      nextStep:
        'À destination, activez l’itinérance des données pour elle et choisissez-la pour les données mobiles.',
    },
    NO_USAGE_YET: {
      summary: 'L’eSIM s’est connectée, et aucune consommation n’est encore connue.',
      nextStep:
        'S’il n’y a pas d’internet, activez l’itinérance des données pour l’eSIM ; sinon il n’y a rien à faire.',
    },
    ROAMING_LIKELY_OFF: {
      summary:
        'L’eSIM s’est connectée mais ne consomme rien : l’itinérance des données est sans doute désactivée.',
      nextStep:
        'Activez l’itinérance des données pour l’eSIM, choisissez-la pour les données mobiles, puis activez et désactivez le mode avion.',
    },
    WORKING: { summary: 'L’eSIM fonctionne.', nextStep: 'Il n’y a rien à faire.' },
    USED_UP: {
      summary: 'Toutes les données de l’eSIM sont consommées.',
      nextStep: 'Rechargez-la chez votre vendeur, ou achetez-en une nouvelle.',
    },
    SUSPENDED: { summary: 'L’eSIM est suspendue.', nextStep: 'Adressez-vous à votre vendeur.' },
    DELETED: {
      summary: 'L’eSIM a été supprimée du téléphone et ne peut pas être réinstallée.',
      nextStep: 'Achetez-en une nouvelle.',
    },
    EXPIRED: { summary: 'L’eSIM a expiré.', nextStep: 'Achetez-en une nouvelle.' },
    CANCELLED: { summary: 'L’eSIM a été annulée.', nextStep: 'Adressez-vous à votre vendeur.' },
    RETURNED: {
      summary: 'L’eSIM a été retournée.',
      nextStep: 'Elle ne peut plus être installée. Adressez-vous à votre vendeur.',
    },
    REPLACED: {
      summary: 'L’eSIM a été remplacée par une nouvelle.',
      nextStep: 'Utilisez la nouvelle eSIM. Votre vendeur vous l’a donnée.',
    },
  },
  notFound: {
    title: 'Aucune eSIM à ce lien',
    text: 'Le lien est incomplet, ou il a été remplacé. Demandez le lien actuel à votre vendeur.',
  },
  tooMany: {
    title: 'Un instant',
    text: 'Cette page a été ouverte trop souvent. Rouvrez-la dans une minute.',
  },
  unavailable: {
    title: 'Indisponible pour le moment',
    text: 'Votre eSIM n’est pas perdue. Rouvrez cette page dans une minute.',
  },
  email: {
    subject: (item) => `Votre eSIM : ${item}`,
    sent: (sender, item) => `${sender} vous a envoyé une eSIM : ${item}.`,
    onBehalfOf: (us, name) => `${us}, au nom de « ${name} »,`,
    reference: (reference) => `Commande : ${reference}`,
    open: 'Ouvrez ce lien sur le téléphone qui l’utilisera et suivez les étapes :',
    personal: 'Ce lien est personnel : ne le partagez pas.',
    stop: 'Si vous ne connaissez pas l’expéditeur ou ne voulez plus de tels e-mails :',
    test: 'Ceci est un test. L’eSIM ne fonctionne pas.',
  },
};
